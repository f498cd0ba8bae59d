// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// Kernels, and sums in parts within them.

func.func @partial_sum_of_vector(%x: tensor<8xf32>) {
  // expected-error @below {{expects an operand of rank at least 2, but got 'tensor<8xf32>'}}
  %0 = nn.partial_sum %x parts 1 : tensor<8xf32>
  return
}

// -----

func.func @partial_sum_parts(%x: tensor<2x6x8xf32>) {
  // expected-error @below {{expects a number of parts that divides its 12 rows, but got 5}}
  %0 = nn.partial_sum %x parts 5 : tensor<2x6x8xf32>
  return
}

// -----

func.func @partial_sum_no_parts(%x: tensor<2x6x8xf32>) {
  // expected-error @below {{expects a number of parts that divides its 12 rows, but got 0}}
  %0 = nn.partial_sum %x parts 0 : tensor<2x6x8xf32>
  return
}

// -----

func.func @place_of_no_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'in_place' to name each of its 1 operands at most once, but got 1}}
  %0 = nn.fused "abs" %x {in_place = array<i64: 1>} : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = math.absf %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @places_of_other_results(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'in_place' to have 1 entries, but got 2}}
  %0 = nn.fused "abs" %x {in_place = array<i64: 0, -1>} : tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = math.absf %a : tensor<4xf32>
    nn.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @place_of_another_type(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{expects a result in place of an operand to have its type, but got 'tensor<4xf16>' in place of 'tensor<4xf32>'}}
  %0 = nn.fused "cast" %x {in_place = array<i64: 0>} : tensor<4xf32> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    %1 = arith.truncf %a : tensor<4xf32> to tensor<4xf16>
    nn.yield %1 : tensor<4xf16>
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @fused_body(%x: tensor<4xf32>) -> tensor<4xf16> {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "abs" %x : tensor<4xf32> -> tensor<4xf16> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return %0 : tensor<4xf16>
}

// -----

func.func @fused_reductions(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<1x8xf32>) {
  %0:2 = nn.fused "sums" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<1x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    // expected-note @below {{the first one is here}}
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    // expected-error @below {{expects the shape and dimensions of the other reductions in 'nn.fused'}}
    %2 = nn.reduce sum %a [0] : tensor<4x8xf32>
    nn.yield %1, %2 : tensor<4x1xf32>, tensor<1x8xf32>
  }
  return %0#0, %0#1 : tensor<4x1xf32>, tensor<1x8xf32>
}

// -----

func.func @partial_sum_alone(%x: tensor<4x8xf32>) -> tensor<2x8xf32> {
  %0 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    // expected-error @below {{expects 'nn.fused' to reduce the last dimension of 'tensor<4x8xf32>' as well}}
    %1 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    nn.yield %1 : tensor<2x8xf32>
  }
  return %0 : tensor<2x8xf32>
}

// -----

func.func @partial_sum_of_columns(%x: tensor<4x8xf32>) -> (tensor<1x8xf32>, tensor<2x8xf32>) {
  %0:2 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<1x8xf32>, tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [0] : tensor<4x8xf32>
    // expected-error @below {{expects 'nn.fused' to reduce the last dimension of 'tensor<4x8xf32>' as well}}
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    nn.yield %1, %2 : tensor<1x8xf32>, tensor<2x8xf32>
  }
  return %0#0, %0#1 : tensor<1x8xf32>, tensor<2x8xf32>
}

// -----

func.func @partial_sums_differ(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>) {
  %0:3 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    // expected-error @below {{expects the 2 parts of the other sums in 'nn.fused', but got 4}}
    %3 = nn.partial_sum %a parts 4 : tensor<4x8xf32>
    nn.yield %1, %2, %3 : tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>
  }
  return %0#0, %0#1, %0#2 : tensor<4x1xf32>, tensor<2x8xf32>, tensor<4x8xf32>
}

// -----

func.func @partial_sum_is_read(%x: tensor<4x8xf32>) -> (tensor<4x1xf32>, tensor<2x8xf32>) {
  %0:2 = nn.fused "sum" %x : tensor<4x8xf32> -> tensor<4x1xf32>, tensor<2x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %1 = nn.reduce sum %a [1] : tensor<4x8xf32>
    // expected-error @below {{expects to be read by 'nn.yield' alone}}
    %2 = nn.partial_sum %a parts 2 : tensor<4x8xf32>
    %3 = math.absf %2 : tensor<2x8xf32>
    nn.yield %1, %3 : tensor<4x1xf32>, tensor<2x8xf32>
  }
  return %0#0, %0#1 : tensor<4x1xf32>, tensor<2x8xf32>
}

// -----

// A kernel writes no pads, so they are not zero in memory of the result's own.
func.func @fused_zeros(%x: tensor<4x3xf32, {row_pitch = 8, zeros}>) {
  // expected-error @below {{expects a result with pads of zeros to be written over an operand of its type, but got 'tensor<4x3xf32, {row_pitch = 8 : i64, zeros}>'}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 8, zeros}> -> tensor<4x3xf32, {row_pitch = 8, zeros}> {
  ^bb0(%a: tensor<4x3xf32>):
    nn.yield %a : tensor<4x3xf32>
  }
  return
}

// -----

// Rows within a kernel do not lie in memory.
func.func @fused_pitch(%x: tensor<4x3xf32, {row_pitch = 8}>) {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 8}> -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x3xf32, {row_pitch = 8}>):
    %1 = arith.constant dense<0.0> : tensor<4x3xf32>
    nn.yield %1 : tensor<4x3xf32>
  }
  return
}

// -----

// Rows would overlap.
func.func @fused_overlap(%x: tensor<4x3xf32, {row_pitch = 2}>) {
  // expected-error @below {{expects a body with the operands' types as arguments that yields the results' types}}
  %0 = nn.fused "copy" %x : tensor<4x3xf32, {row_pitch = 2}> -> tensor<4x3xf32> {
  ^bb0(%a: tensor<4x3xf32>):
    nn.yield %a : tensor<4x3xf32>
  }
  return
}
