// RUN: gpuopt-opt %s --kernels-collect-sums=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s --kernels-collect-sums="device=h200 most-bytes=3000" | FileCheck %s --check-prefix=SMALL
// RUN: gpuopt-opt %s --kernels-collect-sums | FileCheck %s --check-prefix=HOST

// A launch costs nothing on a processor.
// HOST-NOT: nn.sum_parts

// The sums of two layers are made where the second one's were, with the views
// of the first one behind them. A sum that is read at once, and one in half
// precision, stay where they are.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[A:.*]]:2 = nn.fused "first"
// CHECK-NOT: nn.sum_parts
// CHECK: %[[C:.*]] = nn.fused "half"
// CHECK: nn.fused "sum" %{{.*}} {nn.origins = #nn.origins<"read at once">}
// CHECK: %[[B:.*]] = nn.fused "second"
// CHECK: %[[X:.*]] = nn.sum_parts %[[A]]#0 {nn.origins = #nn.origins<"d a">} : tensor<4x1x64xf32>
// CHECK-NEXT: %[[Y:.*]] = nn.sum_parts %[[A]]#1 {nn.origins = #nn.origins<"d b">} : tensor<4x1x64xf32>
// CHECK-NEXT: %[[Z:.*]] = nn.sum_parts %[[B]] {nn.origins = #nn.origins<"d c">} : tensor<8x1x64xf32>
// CHECK-NEXT: %[[VIEW:.*]] = nn.reshape %[[X]]
// CHECK: train.grad_norm %[[VIEW]], %{{.*}}, %{{.*}} of

// 2048 bytes of parts of the first layer wait; with those of the second one they
// would be 4096.
// SMALL-LABEL: train.step @micro_step
// SMALL: nn.fused "first"
// SMALL: nn.sum_parts
// SMALL-NEXT: nn.sum_parts
// SMALL: nn.fused "second"
// SMALL: nn.sum_parts
// SMALL-NOT: nn.sum_parts
train.variable @a parameter : tensor<64xf32>
train.variable @b parameter : tensor<1x1x64xf32>
train.variable @c parameter : tensor<1x1x64xf32>
train.step @micro_step micro ("x" %x: tensor<4x16x64xf32>, "y" %y: tensor<8x16x64xf32>) {
  %0:2 = nn.fused "first" %x : tensor<4x16x64xf32> -> tensor<4x1x64xf32>, tensor<4x1x64xf32> {
  ^bb0(%e: tensor<4x16x64xf32>):
    %1 = arith.mulf %e, %e : tensor<4x16x64xf32>
    %2 = nn.reduce sum %e [1] : tensor<4x16x64xf32>
    %3 = nn.reduce sum %1 [1] : tensor<4x16x64xf32>
    nn.yield %2, %3 : tensor<4x1x64xf32>, tensor<4x1x64xf32>
  }
  %da3, %db = nn.fused "sum" %0#0, %0#1 {nn.origins = #nn.origins<"d a", "d b">} : tensor<4x1x64xf32>, tensor<4x1x64xf32> -> tensor<1x1x64xf32>, tensor<1x1x64xf32> {
  ^bb0(%e: tensor<4x1x64xf32>, %f: tensor<4x1x64xf32>):
    %1 = nn.reduce sum %e [0] : tensor<4x1x64xf32>
    %2 = nn.reduce sum %f [0] : tensor<4x1x64xf32>
    nn.yield %1, %2 : tensor<1x1x64xf32>, tensor<1x1x64xf32>
  }
  %da = nn.reshape %da3 : tensor<1x1x64xf32> to tensor<64xf32>
  %half = nn.fused "half" %0#0 : tensor<4x1x64xf32> -> tensor<1x1x64xf16> {
  ^bb0(%e: tensor<4x1x64xf32>):
    %1 = nn.reduce sum %e [0] : tensor<4x1x64xf32>
    %2 = arith.truncf %1 : tensor<1x1x64xf32> to tensor<1x1x64xf16>
    nn.yield %2 : tensor<1x1x64xf16>
  }
  %now = nn.fused "sum" %0#0 {nn.origins = #nn.origins<"read at once">} : tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%e: tensor<4x1x64xf32>):
    %1 = nn.reduce sum %e [0] : tensor<4x1x64xf32>
    nn.yield %1 : tensor<1x1x64xf32>
  }
  train.output "half", %half : tensor<1x1x64xf16>
  train.output "now", %now : tensor<1x1x64xf32>
  %parts = nn.fused "second" %y : tensor<8x16x64xf32> -> tensor<8x1x64xf32> {
  ^bb0(%e: tensor<8x16x64xf32>):
    %1 = nn.reduce sum %e [1] : tensor<8x16x64xf32>
    nn.yield %1 : tensor<8x1x64xf32>
  }
  %dc = nn.fused "sum" %parts {nn.origins = #nn.origins<"d c">} : tensor<8x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%e: tensor<8x1x64xf32>):
    %1 = nn.reduce sum %e [0] : tensor<8x1x64xf32>
    nn.yield %1 : tensor<1x1x64xf32>
  }
  train.grad_norm %da, %db, %dc of [@a, @b, @c] : tensor<64xf32>, tensor<1x1x64xf32>, tensor<1x1x64xf32>
  train.update "sgd" @a, %da : tensor<64xf32>
  train.update "sgd" @b, %db : tensor<1x1x64xf32>
  train.update "sgd" @c, %dc : tensor<1x1x64xf32>
}
