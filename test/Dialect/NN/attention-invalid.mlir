// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

func.func @attention_batch(%q: tensor<2x8x16xf32>, %k: tensor<3x9x16xf32>) {
  // expected-error @below {{expects query, key and value of one element type and rank with equal leading dimensions}}
  %0:2 = nn.attention %q, %k, %k scale 1.0 : tensor<2x8x16xf32>, tensor<3x9x16xf32>, tensor<3x9x16xf32>
  return
}

// -----

func.func @attention_groups(%q: tensor<2x4x8x16xf32>, %k: tensor<2x3x9x16xf32>) {
  // expected-error @below {{expects query, key and value of one element type and rank with equal leading dimensions, of which the last one of key and value may divide that of the query, but got 'tensor<2x4x8x16xf32>', 'tensor<2x3x9x16xf32>'}}
  %0:2 = nn.attention %q, %k, %k scale 1.0 : tensor<2x4x8x16xf32>, tensor<2x3x9x16xf32>, tensor<2x3x9x16xf32>
  return
}

// -----

func.func @attention_values_of_other_groups(%q: tensor<2x4x8x16xf32>, %k: tensor<2x2x9x16xf32>, %v: tensor<2x1x9x16xf32>) {
  // expected-error @below {{expects keys of the size of queries, and as many as values}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : tensor<2x4x8x16xf32>, tensor<2x2x9x16xf32>, tensor<2x1x9x16xf32>
  return
}

// -----

func.func @attention_keys(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %v: tensor<2x8x16xf32>) {
  // expected-error @below {{expects keys of the size of queries, and as many as values}}
  %0:2 = nn.attention %q, %k, %v scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_mask(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %m: tensor<9x8xi1>) {
  // expected-error @below {{expects a boolean mask or one of 'f32' that broadcasts to 'tensor<2x8x9xf32>', but got 'tensor<9x8xi1>'}}
  %0:2 = nn.attention %q, %k, %k mask %m scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<9x8xi1>
  return
}

// -----

func.func @attention_mask_type(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %m: tensor<8x9xi32>) {
  // expected-error @below {{expects a boolean mask or one of 'f32' that broadcasts to 'tensor<2x8x9xf32>', but got 'tensor<8x9xi32>'}}
  %0:2 = nn.attention %q, %k, %k mask %m scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<8x9xi32>
  return
}

// -----

func.func @attention_bias(%q: tensor<2x8x16xf32>, %b: tensor<3x8x8xf32>) {
  // expected-error @below {{expects a bias of 'f32' that broadcasts to 'tensor<2x8x8xf32>', but got 'tensor<3x8x8xf32>'}}
  %0:2 = nn.attention %q, %q, %q bias %b : tensor<3x8x8xf32> scale 1.0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_bias_type(%q: tensor<2x8x16xf16>, %b: tensor<8x8xf16>) {
  // expected-error @below {{expects a bias of 'f32' that broadcasts to 'tensor<2x8x8xf16>', but got 'tensor<8x8xf16>'}}
  %0:2 = nn.attention %q, %q, %q bias %b : tensor<8x8xf16> scale 1.0 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  return
}

// -----

func.func @attention_grad_bias(%q: tensor<2x8x16xf32>, %s: tensor<2x2x8xf32>, %b: tensor<7x8xf32>) {
  // expected-error @below {{expects a bias of 'f32' that broadcasts to 'tensor<2x8x8xf32>', but got 'tensor<7x8xf32>'}}
  %0:4 = nn.attention_grad %q, %q, %q, %q, %s, %q bias %b : tensor<7x8xf32> scale 1.0
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_root(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a scale of at least 0 for both query and key, but got -1.0}}
  %0:2 = nn.attention %q, %q, %q scale -1.0 of both : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_softcap(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a soft cap above 0, but got 0.0}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 softcap 0.0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_softcap(%q: tensor<2x8x16xf32>, %s: tensor<2x2x8xf32>) {
  // expected-error @below {{'nn.attention_grad' op expects a soft cap above 0, but got -1.0}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 softcap -1.0
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_dropout(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a ratio of at least 0 and below 1, but got 1.0}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 dropout 1.0 stream 0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_stream(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a ratio and a stream of dropout, or neither}}
  %0:2 = "nn.attention"(%q, %q, %q) <{scale = 1.0 : f64, dropoutRatio = 0.5 : f64, scaling = #nn<scaling scores>, operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>}>
      : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> (tensor<2x8x16xf32>, tensor<2x2x8xf32>)
  return
}

// -----

func.func @attention_order(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects an order that is a permutation of the dimensions 0 to 2 with the last one in its place, but got [0, 2, 1]}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 order [0, 2, 1] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_mask_and_band(%q: tensor<2x8x16xf32>, %m: tensor<8x8xi1>) {
  // expected-error @below {{expects a mask or a band, but got both}}
  %0:2 = nn.attention %q, %q, %q mask %m scale 1.0 band [-8, 0] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<8x8xi1>
  return
}

// -----

func.func @attention_band_without_keys(%q: tensor<2x8x16xf32>) {
  // expected-error @below {{expects a band of the first and the last key, with at least one key for each query, but got [1, 9]}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 band [1, 9] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_ranks(%q: tensor<2x8x16xf32>, %k: tensor<8x16xf32>, %s: tensor<2x2x8xf32>) {
  // expected-error @below {{'nn.attention_grad' op expects query, key and value of one rank of 2 or more, but got 'tensor<2x8x16xf32>' and 'tensor<8x16xf32>'}}
  %0:3 = nn.attention_grad %q, %k, %k, %q, %s, %q scale 1.0 : tensor<2x8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_order(%q: tensor<2x8x16xf32>, %s: tensor<2x2x8xf32>) {
  // expected-error @below {{'nn.attention_grad' op expects an order that is a permutation of the dimensions 0 to 2}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 order [1, 1, 2] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_keys(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %s: tensor<2x2x8xf32>) {
  // expected-error @below {{expects query, key and value of an attention, but got 'tensor<2x8x16xf32>', 'tensor<2x9x16xf32>' and 'tensor<2x8x16xf32>'}}
  %0:3 = nn.attention_grad %q, %k, %q, %q, %s, %q scale 1.0 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_band(%q: tensor<2x8x16xf32>, %s: tensor<2x2x8xf32>) {
  // expected-error @below {{expects a band of the first and the last key, with at least one key for each query, but got [0]}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 band [0] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

func.func @attention_grad_results(%q: tensor<2x8x16xf32>, %s: tensor<2x8xf32>) {
  // expected-error @below {{expects the attention's results, 'tensor<2x8x16xf32>' and 'tensor<2x2x8xf32>', and a gradient of the first, but got 'tensor<2x8x16xf32>', 'tensor<2x8xf32>' and 'tensor<2x8x16xf32>'}}
  %0:3 = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8xf32>, tensor<2x8x16xf32>
  return
}

// -----

// The rows of heads are not neighbours.
func.func @attention_grad_columns(%q: tensor<2x4x8x16xf32>, %s: tensor<2x2x4x8xf32>) {
  // expected-error @below {{'nn.attention_grad' op expects to sum columns in the order [0, 2, 1, 3] of one head of keys for each of queries, as many keys as queries, heads of up to 128 elements, and no bias, but got 'tensor<2x4x8x16xf32>', 'tensor<2x4x8x16xf32>' and 'tensor<2x4x8x16xf32>'}}
  %0:4 = nn.attention_grad %q, %q, %q, %q, %s, %q scale 1.0 sums_columns
      : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x2x4x8xf32>, tensor<2x4x8x16xf32>
  return
}
