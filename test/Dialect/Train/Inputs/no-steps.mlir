// expected-error @below {{expects a function named 'forward'}}
module {
}

// -----

// expected-error @below {{expects a model with at least one output}}
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) {
  return
}

// -----

// expected-error @below {{expects floating-point output 'y' for the loss, but got 'tensor<4xi64>'}}
func.func @forward(%x: tensor<4xi64> {nn.name = "x"}) -> (tensor<4xi64> {nn.name = "y"}) {
  return %x : tensor<4xi64>
}

// -----

// expected-error @below {{expects a parameter that the loss depends on, but there is none; frozen parameters and integer tensors are not trained}}
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x8xf32> {nn.name = "y"}) {
  return %x : tensor<4x8xf32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<4x8xf32>
  // expected-error @below {{'math.cbrt' lies between a parameter and the loss but has no gradient}}
  %0 = math.cbrt %w : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
