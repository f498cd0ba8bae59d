// RUN: gpuopt-opt %s --train-plan-memory --convert-to-device=device=h200 --verify-device --device-form-multi-tensor-calls | gpuopt-translate --device-to-cxx | FileCheck %s

// Sums that follow one another are one call, of all elements behind the first
// dimension. The one that a kernel separates from them is a call of its own.
// CHECK: DEVICE_TABLE SumPartsRow kSumsOfParts[] = {
// CHECK-NEXT: {{[{][0-9]+, [0-9]+, 4, 192, 0[}]}}, // "a"
// CHECK-NEXT: {{[{][0-9]+, [0-9]+, 2, 5, 3[}]}}, // "b"
// CHECK: sum_parts(ctx, m, kSumsOfParts, 4);
// CHECK: launch(ctx, {{.*}}fused_double
// CHECK: sum_parts(ctx, 2, 5, m[kDouble], m[k{{.*}}]);
train.step @forward forward ("x" %x: tensor<4x3x64xf32>, "y" %y: tensor<2x5xf32>) {
  %a = nn.sum_parts %x {nn.origins = #nn.origins<"a">} : tensor<4x3x64xf32>
  %b = nn.sum_parts %y {nn.origins = #nn.origins<"b">} : tensor<2x5xf32>
  %double = nn.fused "double" %y {nn.origins = #nn.origins<"double">} : tensor<2x5xf32> -> tensor<2x5xf32> {
  ^bb0(%e: tensor<2x5xf32>):
    %0 = arith.addf %e, %e : tensor<2x5xf32>
    nn.yield %0 : tensor<2x5xf32>
  }
  %c = nn.sum_parts %double {nn.origins = #nn.origins<"c">} : tensor<2x5xf32>
  train.output "a", %a : tensor<1x3x64xf32>
  train.output "b", %b : tensor<1x5xf32>
  train.output "c", %c : tensor<1x5xf32>
}
