// RUN: gpuopt-opt %s -train-build-step 2>&1 | FileCheck %s
// RUN: gpuopt-opt %s -train-build-step="loss=mse" 2>&1 | FileCheck %s --check-prefix=OTHERS --implicit-check-not=warning
// RUN: gpuopt-opt %s -train-build-step="inference=true" 2>&1 | FileCheck %s --check-prefix=OTHERS --implicit-check-not=warning

// Nothing is learned from the cross entropy of one class.

// CHECK: warning: cross_entropy over the one class of 'y' ('tensor<4x1xf32>') is always 0: expects a loss of mse or l1 for a regression, bce_with_logits for yes or no, none for an output that is the loss
// OTHERS: train.step

train.variable @weight parameter : tensor<8x1xf32>

func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x1xf32> {nn.name = "y"}) {
  %w = train.read @weight : tensor<8x1xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x1xf32>
  return %0 : tensor<4x1xf32>
}
