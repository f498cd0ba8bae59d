// RUN: gpuopt-opt %s -train-build-step="loss=dice" -verify-diagnostics

// A dice loss has a loss for each sample.
train.variable @w parameter : tensor<8xf32>
// expected-error @below {{expects logits of at least two dimensions for dice, which has a loss for each sample, but 'y' is 'tensor<8xf32>'}}
func.func @forward(%x: tensor<8xf32> {nn.name = "x"}) -> (tensor<8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8xf32>
  %0 = arith.mulf %x, %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
