// RUN: not gpuopt-opt %s -train-build-step="loss=soft_cross_entropy" 2>&1 | FileCheck %s

// The loss of rows of no classes is a constant.

train.variable @weight parameter : tensor<8x0xf32>

// CHECK: error: expects a parameter that the loss depends on, but there is none; frozen parameters and integer tensors are not trained
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x0xf32> {nn.name = "y"}) {
  %w = train.read @weight : tensor<8x0xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x0xf32>
  return %0 : tensor<4x0xf32>
}
