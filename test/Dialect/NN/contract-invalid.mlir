// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// Products.

func.func @contract_size(%x: tensor<4x8xf32>, %y: tensor<9x3xf32>) {
  // expected-error @below {{expects one size for 'k', but got 8 and 9}}
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<9x3xf32>
  return
}

// -----

func.func @contract_letter(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects 'j' in at least two of the three tensors of "ik,kj->i"}}
  %0 = nn.contract "ik,kj->i" %x, %y : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @accumulator_type(%a: tensor<4x8xf32>, %c: tensor<4x5xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{expects an accumulator of type 'tensor<4x4xf32>', but got 'tensor<4x5xf32>'}}
  %0 = nn.contract "ik,jk->ij" %a, %a plus %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x5xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @accumulator_read_twice(%a: tensor<4x8xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = nn.contract "ik,jk->ij" %a, %a : tensor<4x8xf32>, tensor<4x8xf32>
  // expected-error @below {{expects an accumulator that is the result of 'nn.contract' and has no other use}}
  %1 = nn.contract "ik,jk->ij" %a, %a plus %0 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

func.func @contract_bias(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expects a bias over the columns of its result and no accumulator, but got 'tensor<4xf32>' for 'tensor<3x4xf32>'}}
  %0 = nn.contract "ik,kj->ji" %x, %w bias %b : tensor<4x8xf32>, tensor<8x3xf32> bias tensor<4xf32>
  return
}

// -----

func.func @contract_spec(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects a spec like "ik,kj->ij" with one letter per dimension of 'tensor<4x8xf32>' and 'tensor<4x8xf32>', but got "ii,ik->k"}}
  %0 = nn.contract "ii,ik->k" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @contract_result(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects 'z' in at least two of the three tensors of "ik,ik->iz"}}
  %0 = nn.contract "ik,ik->iz" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @contract_types(%x: tensor<4x8xf32>, %y: tensor<8x4xf16>) {
  // expected-error @below {{'nn.contract' op expects operands of one element type, but got 'tensor<4x8xf32>' and 'tensor<8x4xf16>'}}
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<8x4xf16>
  return
}

// -----

func.func @contract_widened(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract' op expects 'to f32' with operands in half precision, but got 'f32' with 'f32'}}
  %0 = nn.contract "ik,jk->ij" %x, %x to f32 : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @contract_pitch(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects a row pitch above the last of at least two dimensions, but got 3 for 'tensor<4x3xf32>'}}
  %0 = nn.contract "ik,kj->ij" %x, %w row_pitch 3 : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @contract_spare_rows(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract' op expects from one spare row to as many as a matrix has rows, but got 5 for 'tensor<4x3xf32>'}}
  %0 = nn.contract "ik,kj->ij" %x, %w spare_rows 5 : tensor<4x8xf32>, tensor<8x3xf32>
  return
}
