// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// Neither of two equal repetitions goes away, and neither becomes the first
// execution, though everything in them is equal to it.

// CHECK-LABEL: train.step @s
// KEPT-LABEL: train.step @s
train.step @s forward ("x" %x: tensor<8x16xf32>) {
  // KEPT: %[[FIRST:.*]] = nn.reduce sum
  %0 = nn.reduce sum %x [1] : tensor<8x16xf32>
  // CHECK: train.recompute "why" %{{.*}} : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x16xf32>):
  // CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[A]]
  // CHECK-NEXT: train.yield %[[SUM]] : tensor<8x1xf32>
  // KEPT: %[[SECOND:.*]] = train.recompute "why"
  // KEPT: nn.reduce sum
  %1 = train.recompute "why" %x : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = nn.reduce sum %a [1] : tensor<8x16xf32>
    train.yield %2 : tensor<8x1xf32>
  }
  // KEPT: %[[THIRD:.*]] = train.recompute "why"
  %3 = train.recompute "why" %x : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %4 = nn.reduce sum %a [1] : tensor<8x16xf32>
    train.yield %4 : tensor<8x1xf32>
  }
  // KEPT: train.output "first", %[[FIRST]]
  // KEPT: train.output "second", %[[SECOND]]
  // KEPT: train.output "third", %[[THIRD]]
  train.output "first", %0 : tensor<8x1xf32>
  train.output "second", %1 : tensor<8x1xf32>
  train.output "third", %3 : tensor<8x1xf32>
}
