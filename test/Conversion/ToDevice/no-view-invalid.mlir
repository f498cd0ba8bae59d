// RUN: gpuopt-opt %s -convert-to-device -verify-diagnostics

// Rows that were turned are no rows of 32 elements that lie one behind the other.

train.step @s forward ("x" %x: tensor<4x8xf32>) {
  %0 = nn.transpose %x [1, 0] : tensor<4x8xf32>
  // expected-error @below {{has a result that is no view of its operand's memory; run kernels-materialize-views before}}
  %1 = nn.reshape %0 : tensor<8x4xf32> to tensor<32xf32>
  train.output "y", %1 : tensor<32xf32>
}
