// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

func.func @spec(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract_relu' op expects a spec like "ik,kj->ij" with one letter per dimension}}
  %0 = nn.contract_relu "ii,ik->k" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @size(%x: tensor<4x8xf32>, %w: tensor<9x3xf32>, %m: tensor<4x4xi32>) {
  // expected-error @below {{'nn.contract_relu_grad' op expects one size for 'k', but got 8 and 9}}
  %0 = nn.contract_relu_grad "ik,kj->ij" %x, %w mask %m : tensor<4x8xf32>, tensor<9x3xf32> mask tensor<4x4xi32>
  return
}

// -----

func.func @columns(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>) {
  // expected-error @below {{expects that only the right operand has the last letter of the result, but got "ik,kj->ji"}}
  %0 = nn.contract_relu "ik,kj->ji" %x, %w : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @bias(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expects a bias of type 'tensor<3xf32>', but got 'tensor<4xf32>'}}
  %0 = nn.contract_relu "ik,kj->ij" %x, %w bias %b : tensor<4x8xf32>, tensor<8x3xf32> bias tensor<4xf32>
  return
}

// -----

func.func @added(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %r: tensor<4x4xf32>) {
  // expected-error @below {{expects to add 'tensor<4x3xf32>', but got 'tensor<4x4xf32>'}}
  %0 = nn.contract_relu "ik,kj->ij" %x, %w plus %r : tensor<4x8xf32>, tensor<8x3xf32> plus tensor<4x4xf32>
  return
}

// -----

func.func @columns_of_gradient(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %m: tensor<3x4xi32>) {
  // expected-error @below {{expects that only the right operand has the last letter of the result, but got "ik,kj->ji"}}
  %0 = nn.contract_relu_grad "ik,kj->ji" %x, %w mask %m : tensor<4x8xf32>, tensor<8x3xf32> mask tensor<3x4xi32>
  return
}

// -----

func.func @mask(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %m: tensor<4x1xi32>) {
  // expected-error @below {{expects a mask of type 'tensor<4x4xi32>', but got 'tensor<4x1xi32>'}}
  %0 = nn.contract_relu_grad "ik,kj->ij" %x, %w mask %m : tensor<4x8xf32>, tensor<8x3xf32> mask tensor<4x1xi32>
  return
}

// -----

func.func @added_to_gradient(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %m: tensor<4x4xi32>, %r: tensor<3xf32>) {
  // expected-error @below {{expects to add 'tensor<4x3xf32>', but got 'tensor<3xf32>'}}
  %0 = nn.contract_relu_grad "ik,kj->ij" %x, %w mask %m plus %r : tensor<4x8xf32>, tensor<8x3xf32> mask tensor<4x4xi32> plus tensor<3xf32>
  return
}
