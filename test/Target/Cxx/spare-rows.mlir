// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place --kernels-reserve-rows=device=h200 \
// RUN:     --train-plan-state --train-plan-memory --convert-to-device="device=h200" --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// Memory has the spare rows; tables, by which files are read and written, have the
// elements alone. Kernels and updates end with these, products go on to 1024.
// CHECK: Buffer<float> kHead{{.*}} // f32[1009,768] "head"
// CHECK: Buffer<f16> kHeadHalf{{.*}} // f16[1009,768] and 15 spare rows "head.half"
// CHECK: Buffer<f16> kContract{{.*}} // f16[4096,1009] rows 1024 apart "contract"
// CHECK: Buffer<f16> kContract{{.*}} // f16[1009,768] and 15 spare rows "contract"
// CHECK: "head.half", Type::F16, 2, {1009, 768}, {{.*}}, 1549824}
// CHECK: left = 1009 - i
// CHECK: kGemm4096x1024x768_nt = {.m = 4096, .n = 1024, {{.*}}
// CHECK: .c_m = 1024};
// CHECK: kGemm4096x768x1024 = {.m = 4096, .n = 768, .k = 1024, .a_m = 1024,
// CHECK: kGemm1024x768x4096_tn = {.m = 1024, .n = 768, .k = 4096, .a_k = 1024,
train.variable @head parameter : tensor<1009x768xf32>
train.variable @head.half half_copy : tensor<1009x768xf16> {of = @head}
train.step @micro_step micro ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<1009x768xf16>
  %logits = nn.contract "tk,vk->tv" %x, %w : tensor<4096x768xf16>, tensor<1009x768xf16>
  %d = nn.fused "softmax" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = arith.extf %a : tensor<4096x1009xf16> to tensor<4096x1009xf32>
    %max = nn.reduce max %0 [1] : tensor<4096x1009xf32>
    %1 = nn.broadcast %max : tensor<4096x1xf32> to tensor<4096x1009xf32>
    %2 = arith.subf %0, %1 : tensor<4096x1009xf32>
    %3 = arith.truncf %2 : tensor<4096x1009xf32> to tensor<4096x1009xf16>
    nn.yield %3 : tensor<4096x1009xf16>
  }
  %dx = nn.contract "tv,vk->tk" %d, %w : tensor<4096x1009xf16>, tensor<1009x768xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  %dw = nn.contract "tv,tk->vk" %d, %x : tensor<4096x1009xf16>, tensor<4096x768xf16>
  train.update "sgd" @head, %dw copy @head.half : tensor<1009x768xf16>
}
