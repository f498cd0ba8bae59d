// RUN: gpuopt-opt %s -train-build-step="loss=mse" -allow-unregistered-dialect -split-input-file -verify-diagnostics

// What is built from is a function with a body, whose shapes are known.

// expected-error @below {{expects a body of one block, but got 0 blocks}}
func.func private @forward(%x: tensor<4xf32>) -> tensor<4xf32>

// -----

// expected-error @below {{expects a body of one block, but got 2 blocks}}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  "test.branch"()[^end] : () -> ()
^end:
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{expects ranked tensors of static shape as arguments, but got 'tensor<?xf32>'}}
func.func @forward(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
