// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

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

func.func @contract_size(%x: tensor<4x8xf32>, %y: tensor<9x3xf32>) {
  // expected-error @below {{expects one size for 'k', but got 8 and 9}}
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<9x3xf32>
  return
}

// -----

func.func @contract_letter(%x: tensor<4x8xf32>, %y: tensor<8x3xf32>) {
  // expected-error @below {{in at least two of the three tensors}}
  %0 = nn.contract "ik,kj->i" %x, %y : tensor<4x8xf32>, tensor<8x3xf32>
  return
}

// -----

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects ascending dimensions of}}
  %0 = nn.reduce sum %x [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a ratio from 0 to below 1}}
  %0 = nn.dropout %x ratio 1.0 stream 0 : tensor<4x8xf32>
  return
}

// -----

func.func @conv(%x: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x3xf32>) {
  // expected-error @below {{expects weights for 4 input channels in 1 groups}}
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<1x8x8x4xf32>, tensor<8x3x3x3xf32>
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

func.func @place_of_no_operand(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{expects 'in_place' to name each of its 1 operands once at most, but got 1}}
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

func.func @no_entries(%ids: tensor<4xi64>) { // (C1)
  // expected-error @below {{expects a size of at least 1, but got 0}}
  %0 = nn.in_range %ids of 0 : tensor<4xi64>
  return
}

// -----

func.func @attention_batch(%q: tensor<2x8x16xf32>, %k: tensor<3x9x16xf32>) {
  // expected-error @below {{expects query, key and value of one element type and rank with equal leading dimensions}}
  %0 = nn.attention %q, %k, %k scale 1.0 : tensor<2x8x16xf32>, tensor<3x9x16xf32>, tensor<3x9x16xf32>
  return
}

// -----

func.func @attention_keys(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %v: tensor<2x8x16xf32>) {
  // expected-error @below {{expects keys of the size of queries, and as many as values}}
  %0 = nn.attention %q, %k, %v scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_mask(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %m: tensor<9x8xi1>) {
  // expected-error @below {{expects a boolean mask or one of 'f32' that broadcasts to 'tensor<2x8x9xf32>', but got 'tensor<9x8xi1>'}}
  %0 = nn.attention %q, %k, %k mask %m scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<9x8xi1>
  return
}

// -----

func.func @attention_mask_type(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %m: tensor<8x9xi32>) {
  // expected-error @below {{expects a boolean mask or one of 'f32' that broadcasts to 'tensor<2x8x9xf32>', but got 'tensor<8x9xi32>'}}
  %0 = nn.attention %q, %k, %k mask %m scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<8x9xi32>
  return
}

// -----

func.func @attention_root(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a scale of 0 or more of both query and key, but got -1.0}}
  %0 = nn.attention %q, %q, %q scale -1.0 of both : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_dropout(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a ratio from 0 to below 1, but got 1.0}}
  %0 = nn.attention %q, %q, %q scale 1.0 dropout 1.0 stream 0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @contract_bias(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{expects a bias over the columns of its result and no accumulator, but got 'tensor<4xf32>' for 'tensor<3x4xf32>'}}
  %0 = nn.contract "ik,kj->ji" %x, %w bias %b : tensor<4x8xf32>, tensor<8x3xf32> bias tensor<4xf32>
  return
}
