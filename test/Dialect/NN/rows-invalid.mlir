// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics
// Lookups, reductions, normalisation and losses.

func.func @reduce(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects ascending dimensions of}}
  %0 = nn.reduce sum %x [1, 0] : tensor<4x8xf32>
  return
}

// -----

func.func @dropout(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a ratio of at least 0 and below 1}}
  %0 = nn.dropout %x ratio 1.0 stream 0 : tensor<4x8xf32>
  return
}

// -----

func.func @no_entries(%ids: tensor<4xi64>) { // (C1)
  // expected-error @below {{expects a size of at least 1, but got 0}}
  %0 = nn.in_range %ids of 0 : tensor<4xi64>
  return
}

// -----

func.func @softmax(%x: tensor<4x8xf32>) {
  // expected-error @below {{expects a dimension of 'tensor<4x8xf32>', but got 2}}
  %0 = nn.softmax %x dim 2 : tensor<4x8xf32>
  return
}

// -----

func.func @take(%x: tensor<f32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.take' op expects a table of rank at least 1, but got 'tensor<f32>'}}
  %0 = nn.take %x, %ids : tensor<f32>, tensor<4xi64>
  return
}

// -----

func.func @scatter_add(%x: tensor<5x8xf32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter_add' op expects updates whose shape begins with that of 'tensor<4xi64>', but got 'tensor<5x8xf32>'}}
  %0 = nn.scatter_add %x, %ids rows 16 : tensor<5x8xf32>, tensor<4xi64>
  return
}

// -----

func.func @scatter_add_accumulator(%x: tensor<4x8xf32>, %w: tensor<4x16xf32>, %ids: tensor<4xi64>) {
  %0 = nn.contract "ki,kj->ij" %w, %x row_pitch 16 : tensor<4x16xf32>, tensor<4x8xf32>
  // expected-error @below {{'nn.scatter_add' op expects an accumulator of type 'tensor<16x8xf32>' without a row pitch, but got 'tensor<16x8xf32, {row_pitch = 16 : i64}>'}}
  %1 = nn.scatter_add %x, %ids rows 16 plus %0 : tensor<4x8xf32>, tensor<4xi64>, tensor<16x8xf32, {row_pitch = 16 : i64}>
  return
}

// -----

func.func @scatter_add_to_half(%x: tensor<4x8xf32>, %w: tensor<4x16xf16>, %y: tensor<4x8xf16>, %ids: tensor<4xi64>) {
  %0 = nn.contract "ki,kj->ij" %w, %y : tensor<4x16xf16>, tensor<4x8xf16>
  // expected-error @below {{'nn.scatter_add' op expects an accumulator of type 'tensor<16x8xf32>' without a row pitch, but got 'tensor<16x8xf16>'}}
  %1 = nn.scatter_add %x, %ids rows 16 plus %0 : tensor<4x8xf32>, tensor<4xi64>, tensor<16x8xf16>
  return
}

// -----

func.func @scatter_add_to_what_is_read(%x: tensor<4x8xf32>, %w: tensor<4x16xf32>, %ids: tensor<4xi64>) -> tensor<16x8xf32> {
  %0 = nn.contract "ki,kj->ij" %w, %x : tensor<4x16xf32>, tensor<4x8xf32>
  // expected-error @below {{'nn.scatter_add' op expects an accumulator that is the result of 'nn.contract' or 'nn.scatter_add' and has no other use}}
  %1 = nn.scatter_add %x, %ids rows 16 plus %0 : tensor<4x8xf32>, tensor<4xi64>, tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// -----

func.func @scatter_add_to_argument(%x: tensor<4x8xf32>, %t: tensor<16x8xf32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter_add' op expects an accumulator that is the result of 'nn.contract' or 'nn.scatter_add' and has no other use}}
  %0 = nn.scatter_add %x, %ids rows 16 plus %t : tensor<4x8xf32>, tensor<4xi64>, tensor<16x8xf32>
  return
}

// -----

func.func @scatter_truths(%t: tensor<5x8xi1>, %x: tensor<4x8xi1>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter' op expects a table of rank at least 1, of numbers of 32 or 64 bits or in half precision, but got 'tensor<5x8xi1>'}}
  %0 = nn.scatter max %t, %x, %ids : tensor<5x8xi1>, tensor<4x8xi1>, tensor<4xi64>
  return
}

// -----

func.func @scatter_updates(%t: tensor<5x8xf32>, %x: tensor<3x8xf32>, %ids: tensor<4xi64>) {
  // expected-error @below {{'nn.scatter' op expects updates of type 'tensor<4x8xf32>', but got 'tensor<3x8xf32>'}}
  %0 = nn.scatter sum %t, %x, %ids : tensor<5x8xf32>, tensor<3x8xf32>, tensor<4xi64>
  return
}

// -----

func.func @argsort_scalar(%x: tensor<f32>) {
  // expected-error @below {{'nn.argsort' op expects an operand of rank at least 1, of numbers of 32 or 64 bits or in half precision, but got 'tensor<f32>'}}
  %0 = nn.argsort %x : tensor<f32>
  return
}

// -----

func.func @layer_norm_axis(%x: tensor<4x8xf32>) {
  // expected-error @below {{'nn.layer_norm' op expects an axis of 'tensor<4x8xf32>', but got 2}}
  %y, %mean, %rstd = nn.layer_norm %x axis 2 epsilon 1.0e-5 : tensor<4x8xf32>
  return
}

// -----

func.func @layer_norm_scale(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'nn.layer_norm' op expects a scale and bias of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %y, %mean, %rstd = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<4x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @batch_norm_rank(%x: tensor<8xf32>) {
  // expected-error @below {{'nn.batch_norm' op expects rank at least 2, but got 'tensor<8xf32>'}}
  %0:5 = nn.batch_norm %x, %x, %x, %x, %x epsilon 1.0e-5 momentum 0.1
      : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return
}

// -----

func.func @batch_norm_parameters(%x: tensor<4x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{'nn.batch_norm' op expects parameters of type 'tensor<8xf32>', but got 'tensor<4xf32>'}}
  %0:5 = nn.batch_norm %x, %s, %s, %s, %s epsilon 1.0e-5 momentum 0.1
      : tensor<4x8xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @cross_entropy_labels(%x: tensor<4x8xf32>, %labels: tensor<8xi64>) {
  // expected-error @below {{'nn.cross_entropy' op expects labels of the logits' shape without the last dimension, but got 'tensor<8xi64>' for 'tensor<4x8xf32>'}}
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 0.0 : tensor<4x8xf32>, tensor<8xi64>
  return
}

// -----

func.func @cross_entropy_smoothing(%x: tensor<4x8xf32>, %labels: tensor<4xi64>) {
  // expected-error @below {{'nn.cross_entropy' op expects a label smoothing of at least 0 and below 1, but got 1.0}}
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 1.0 : tensor<4x8xf32>, tensor<4xi64>
  return
}
