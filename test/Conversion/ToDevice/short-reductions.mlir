// RUN: gpuopt-opt %s -nn-decompose -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 --verify-device | FileCheck %s
// RUN: gpuopt-opt %s -nn-decompose -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 --verify-device | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CODE
// RUN: gpuopt-opt %s -nn-decompose -kernels-form-clusters -train-plan-memory -convert-to-device | FileCheck %s --check-prefix=HOST

// Rows that would leave three quarters of a warp idle or more share it, where there are enough of them.

// The two classes of a pixel are one thread's. It waits for no other, so the number of rows is any.
// CHECK-LABEL: device.kernel @fused_softmax_sub_exp_div blocks 1172 threads 256 groups 256 resident
// CODE-LABEL: void fused_softmax_sub_exp_div(
// CODE: const int64_t end = min(begin + 256, int64_t(299777));
// CODE: for (int64_t r = begin + group<1>(); r < end; r += groups<256>()) {
// CODE: UNROLL for (int64_t t = 0; t < iterations<1>(2); t++) {
// CODE: const float maximum = group_max<1>(maxima);
// HOST-LABEL: device.kernel @fused_softmax_sub_exp_div blocks 299777 threads 32 [

// 24 classes are three vectors of eight, so four threads have a row: a warp has eight rows, and a block has 64.
// CHECK-LABEL: device.kernel @fused_softmax_sub_exp_div_2 blocks 1024 threads 256 groups 64 resident
// CODE-LABEL: void fused_softmax_sub_exp_div_2(
// CODE: for (int64_t r = begin + group<4>(); r < end; r += groups<64>()) {
// CODE: const float maximum = group_max<4>(maxima);
// CODE: const float sum = group_sum<4>(sums);

// 16705 rows are no whole number of warps: the last ones would leave threads of a warp behind, whose sums the
// others wait for. So a warp has a row.
// CHECK-LABEL: device.kernel @fused_softmax_sub_exp_div_3 blocks 2089 threads 256 groups 8 resident
// CODE-LABEL: void fused_softmax_sub_exp_div_3(
// CODE: const float sum = group_sum<32>(sums);

// Few rows have a warp each as well: so more of the device is busy.
// CHECK-LABEL: device.kernel @fused_softmax_sub_exp_div_4 blocks 256 threads 64 groups 2 resident

// Nine vectors are more than a quarter of a warp.
// CHECK-LABEL: device.kernel @fused_softmax_sub_exp_div_5 blocks 8192 threads 256 groups 8 resident
train.step @softmaxes forward ("x" %x: tensor<299777x2xf16>, "y" %y: tensor<65536x24xf16>, "z" %z: tensor<16705x24xf16>,
    "few" %few: tensor<512x24xf16>, "wide" %wide: tensor<65536x72xf16>) {
  %0 = nn.softmax %x dim 1 : tensor<299777x2xf16>
  train.output "a", %0 : tensor<299777x2xf16>
  %1 = nn.softmax %y dim 1 : tensor<65536x24xf16>
  train.output "b", %1 : tensor<65536x24xf16>
  %2 = nn.softmax %z dim 1 : tensor<16705x24xf16>
  train.output "c", %2 : tensor<16705x24xf16>
  %3 = nn.softmax %few dim 1 : tensor<512x24xf16>
  train.output "d", %3 : tensor<512x24xf16>
  %4 = nn.softmax %wide dim 1 : tensor<65536x72xf16>
  train.output "e", %4 : tensor<65536x72xf16>
}
