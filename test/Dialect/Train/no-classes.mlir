// RUN: gpuopt-opt %s -train-build-step="loss=soft_cross_entropy" | FileCheck %s

// Rows of no classes are targets all the same.

train.variable @weight parameter : tensor<8x0xf32>

// CHECK: train.step @micro_step
// CHECK: train.seed of 4
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x0xf32> {nn.name = "y"}) {
  %w = train.read @weight : tensor<8x0xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x0xf32>
  return %0 : tensor<4x0xf32>
}
