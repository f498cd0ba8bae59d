// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

func.func @spec(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.contract_sums' op expects a spec like "ik,kj->ij" with one letter per dimension}}
  %0, %1 = nn.contract_sums "ii,ik->k" %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  return
}

// -----

func.func @summed(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) {
  // expected-error @below {{'nn.contract_sums' op expects that the result has the last letter of the left operand and no other one of it, but got "ik,kj->ij"}}
  %0, %1 = nn.contract_sums "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @kept(%x: tensor<2x4x8xf32>, %y: tensor<2x4x3xf32>) {
  // expected-error @below {{'nn.contract_sums' op expects that the result has the last letter of the left operand and no other one of it, but got "bki,bkj->bij"}}
  %0, %1 = nn.contract_sums "bki,bkj->bij" %x, %y : tensor<2x4x8xf32>, tensor<2x4x3xf32>
  return
}
