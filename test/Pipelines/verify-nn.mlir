// RUN: gpuopt-opt %s --verify-nn --split-input-file --verify-diagnostics

// What the phase leaves.
func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = nn.softmax %x dim 1 : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A node that was not converted.
func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{'onnx.node' op is an op of the model's file, which convert-onnx-to-nn should have replaced}}
  %0 = onnx.node "Softmax"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// A batch that nobody gave a size.
func.func @forward(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // expected-error @below {{expects a static shape, but got 'tensor<?x8xf32>'}}
  %0 = arith.addf %x, %x : tensor<?x8xf32>
  // expected-error @below {{expects a static shape}}
  return %0 : tensor<?x8xf32>
}

// -----

// A kernel, before there is a step.
func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{must not be there yet: a later phase makes it}}
  %0 = nn.fused "exp" %x : tensor<4x8xf32> -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = math.exp %a : tensor<4x8xf32>
    nn.yield %1 : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}

// -----

// expected-error @below {{expects one function of one block, but got 0 functions}}
module {
}

// -----

// expected-error @below {{expects a body of one block, but got 0 blocks}}
func.func private @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32>

// -----

func.func @forward(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @below {{expects types of the nn dialect's tensors, but got '!onnx.unknown'}}
  %0 = builtin.unrealized_conversion_cast %x : tensor<4x8xf32> to !onnx.unknown
  return %x : tensor<4x8xf32>
}
