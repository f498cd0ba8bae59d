// RUN: gpuopt-opt %s --kernels-form-clusters --kernels-hoist-readers | FileCheck %s

// A step with nothing in it, and one with a call alone, whose module has no op of
// the dialect that kernels' constants are of.

// CHECK: train.step @nothing forward ("x" %{{.*}}: tensor<4xf32>) {
// CHECK-NEXT: }
train.step @nothing forward ("x" %x: tensor<4xf32>) {}

// CHECK: train.step @one_call
// CHECK: nn.contract
train.step @one_call forward ("x" %x: tensor<2x8xf32>, "w" %w: tensor<4x8xf32>) {
  %0 = nn.contract "ik,jk->ij" %x, %w : tensor<2x8xf32>, tensor<4x8xf32>
  train.output "y", %0 : tensor<2x4xf32>
}
