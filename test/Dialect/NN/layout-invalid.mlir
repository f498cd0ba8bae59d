// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// Ops that move elements, and their shapes.

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects 32 elements in the result, but got 30}}
  %0 = nn.reshape %x : tensor<4x8xf32> to tensor<30xf32>
  return
}

// -----

func.func @transpose(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a permutation of the dimensions of}}
  %0 = nn.transpose %x [0, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @broadcast(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects dimensions of size 1 or the result's}}
  %0 = nn.broadcast %x : tensor<4x8xf32> to tensor<4x16xf32>
  return
}

// -----

func.func @slice(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a box inside}}
  %0 = nn.slice %x [0, 4] [4, 8] [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @concat(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>) {
  // expected-error @below {{expects operands that differ in dimension 1 alone}}
  %0 = nn.concat %x, %y dim 1 : tensor<4x8xf32>, tensor<5x8xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a result with element type 'f32', but got 'f16'}}
  %0 = nn.reshape %x : tensor<4x8xf32> to tensor<32xf16>
  return
}

// -----

func.func @transpose_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.transpose' op expects 2 entries in the permutation, but got 1}}
  %0 = nn.transpose %x [0] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.slice' op expects 2 offsets, sizes and strides}}
  %0 = nn.slice %x [0] [4, 8] [1, 1] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.slice' op expects strides of at least 1, but got 0}}
  %0 = nn.slice %x [0, 0] [4, 8] [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @slice_overflow(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a box inside}}
  %0 = nn.slice %x [0, 0] [4, 5] [1, 4611686018427387904] : tensor<4x8xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{'nn.concat' op expects at least one operand}}
  // expected-error @below {{failed to infer returned types}}
  %0 = "nn.concat"() <{dim = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_dimension(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.concat' op expects a dimension of 'tensor<4x8xf32>', but got 2}}
  %0 = nn.concat %x, %x dim 2 : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op expects 1 non-negative low, high and interior entries}}
  %0 = nn.pad %x low [-1] high [0] interior [0] value 0.0 : f32 : tensor<4xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.pad' op expects a value of type 'f32', but got 'f64'}}
  %0 = nn.pad %x low [1] high [0] interior [0] value 0.0 : f64 : tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @below {{expects a dimension of 'tensor<4xi64>', but got 1}}
  %0 = nn.iota dim 1 : tensor<4xi64>
  return
}

// -----

func.func @sum_parts_rank(%x: tensor<4xf32>) {
  // expected-error @below {{'nn.sum_parts' op expects an operand of rank at least 2, but got 'tensor<4xf32>'}}
  %0 = nn.sum_parts %x : tensor<4xf32>
  return
}
