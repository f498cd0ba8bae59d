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

// expected-error @below {{expects floating-point output 'loss' for the loss, but got 'tensor<f32>', a single number: if it is the loss, give --loss none}}
func.func @forward(%x: tensor<f32> {nn.name = "x"}) -> (tensor<f32> {nn.name = "loss"}) {
  return %x : tensor<f32>
}

// -----

train.variable @w parameter : tensor<4x8xf32>
// expected-error @below {{expects a parameter that the loss depends on, but no gradient passes 'quantise', which stops it, or whose result is of integers or changes in steps}}
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<4x8xf32>
  %0 = arith.mulf %w, %x : tensor<4x8xf32>
  %1 = math.floor %0 : tensor<4x8xf32> loc("quantise")
  %2 = arith.addf %1, %x : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
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

// -----

// The selection passes a gradient, though its condition does not.
train.variable @w parameter : tensor<4x8xf32>
// expected-error @below {{but no gradient passes 'quantise'}}
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<4x8xf32>
  %0 = arith.cmpf oge, %w, %x : tensor<4x8xf32> loc("select")
  %1 = arith.select %0, %w, %x : tensor<4x8xi1>, tensor<4x8xf32> loc("select")
  %2 = math.floor %1 : tensor<4x8xf32> loc("quantise")
  return %2 : tensor<4x8xf32>
}
