// RUN: gpuopt-opt %s -train-build-step -verify-diagnostics
// RUN: not gpuopt-opt %s -train-build-step="loss=nll" 2>&1 | FileCheck %s --check-prefix=NLL
// RUN: not gpuopt-opt %s -train-build-step="loss=soft_cross_entropy" 2>&1 | FileCheck %s --check-prefix=SOFT
// RUN: gpuopt-opt %s -train-build-step="loss=mse" | FileCheck %s --check-prefix=STEP
// RUN: gpuopt-opt %s -train-build-step="inference=true" | FileCheck %s --check-prefix=STEP

// The only dimension is the batch, over which no softmax may go.
// NLL: error: expects logits [N, C] for nll, but 'y' is 'tensor<8xf32>'
// SOFT: error: expects logits [N, C] for soft_cross_entropy, but 'y' is 'tensor<8xf32>'
// STEP: train.step
train.variable @w parameter : tensor<8xf32>
// expected-error @below {{expects logits [N, C] for cross_entropy, but 'y' is 'tensor<8xf32>': expects a loss of mse or l1 for a regression, bce_with_logits for yes or no, none for an output that is the loss}}
func.func @forward(%x: tensor<8xf32> {nn.name = "x"}) -> (tensor<8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8xf32>
  %0 = arith.mulf %x, %w : tensor<8xf32>
  return %0 : tensor<8xf32>
}
