// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --kernels-mark-in-place --train-plan-memory \
// RUN:     --convert-to-device="device=h200 debug-overflow" --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// What is printed where rows begin 1024 elements apart: the memory and strides
// say so, walks over rows and products end with the row, and the checks of
// --debug-overflow look at rows alone.
// CHECK: Buffer<f16> kContract{{.*}} // f16[4096,1009] rows 1024 apart "contract" live [0, 3)
// CHECK: left = 1009 - i
// CHECK: load({{.*}} + r * 1024 + i, left)
// CHECK: store({{.*}} + r * 1024 + i, {{.*}}, 1009 - i)
// CHECK: kGemm4096x1009x768_nt = {.m = 4096, .n = 1009, {{.*}}
// CHECK: .c_m = 1024};
// CHECK: kGemm1009x768x4096_tn = {.m = 1009, .n = 768, .k = 4096, .a_k = 1024,
// CHECK: check_finite_rows(ctx, state, m[kContract], 4096, 1009, /*pitch=*/1024, 0);
// CHECK: launch(ctx, {{.*}}, fused_softmax, m[kContract], m[kContract]);
// CHECK: check_finite(ctx, state, m[kContract2], 774912, 2);
train.step @micro_step micro ("x" %x: tensor<4096x768xf16>, "w" %w: tensor<1009x768xf16>) {
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
  %dw = nn.contract "tv,tk->vk" %d, %x : tensor<4096x1009xf16>, tensor<4096x768xf16>
  train.output "dw", %dw : tensor<1009x768xf16>
}
