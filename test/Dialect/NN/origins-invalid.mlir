// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// What says where an op comes from, and how it is differentiated.

func.func @origins(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.origins' to be an '#nn.origins' with one origin for each of 1 results, but got #nn.origins<"a", "b">}}
  %0 = arith.negf %x {nn.origins = #nn.origins<"a", "b">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @origins_as_text(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.origins' to be an '#nn.origins' with one origin for each of 1 results, but got ["a"]}}
  %0 = arith.negf %x {nn.origins = ["a"]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @gradient_of_nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects a gradient to be of something with a name}}
  %0 = arith.negf %x {nn.origins = #nn.origins<gradient of "">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @from(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.from' to be the name of an op of 'nn', but got "soft"}}
  %0 = arith.negf %x {nn.from = "soft"} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @result(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.result' to be the number of a result, but got -1 : i64}}
  %0 = arith.negf %x {nn.result = -1} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @straight(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.straight_through' to be a unit on a 'math.roundeven', but got unit}}
  %0 = arith.negf %x {nn.straight_through} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @unknown(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has an attribute 'nn.origin', which 'nn' does not know}}
  %0 = arith.negf %x {nn.origin = #nn.origin<gradient of "a">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @stopping(%x: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @below {{expects 'nn.stops_gradient' to be a unit on an 'nn.concat' of one operand, but got unit}}
  %0 = nn.concat %x, %x dim 0 {nn.stops_gradient} : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @bound(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'nn.passes_at_bound' to be a unit on an 'arith.maximumf' or 'arith.minimumf', but got unit}}
  %0 = arith.negf %x {nn.passes_at_bound} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
