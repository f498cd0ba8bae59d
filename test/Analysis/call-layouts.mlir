// RUN: gpuopt-opt %s --print-call-layouts --verify-diagnostics

train.variable @w parameter : tensor<8x4xf32>
train.step @forward_step forward ("x" %x: tensor<8x4xf32>, "y" %y: tensor<2x4x8xf32>) {
  %w = train.read @w : tensor<8x4xf32>
  %0 = nn.transpose %x [1, 0] : tensor<8x4xf32>
  // The library reads the transposed operand by its strides.
  // expected-remark @below {{reads %x at 0, strides [1, 4]; reads @w at 0, strides [4, 1]; writes its own buffer at 0, strides [4, 1]}}
  %1 = nn.contract "ik,kj->ij" %0, %w : tensor<4x8xf32>, tensor<8x4xf32>
  // Two matrices of 4 x 8, 32 elements apart; the results are 16 apart.
  // expected-remark @below {{reads %y at 0, strides [32, 8, 1]; reads @w at 0, strides [4, 1]; writes its own buffer at 0, strides [16, 4, 1]}}
  %2 = nn.contract "bik,kj->bij" %y, %w : tensor<2x4x8xf32>, tensor<8x4xf32>
  // The transposed operand is no vector in memory.
  %v = nn.reshape %0 : tensor<4x8xf32> to tensor<32xf32>
  // expected-remark @below {{cannot read an operand with the strides that it has}}
  %3 = nn.contract "i,j->ij" %v, %v : tensor<32xf32>, tensor<32xf32>
  train.output "c", %3 : tensor<32x32xf32>
  train.output "a", %1 : tensor<4x4xf32>
  train.output "b", %2 : tensor<2x4x4xf32>
}
