// RUN: gpuopt-opt %s --verify-precision --split-input-file --verify-diagnostics

// What the phase leaves.
train.variable @w parameter : tensor<8xf32>
train.variable @w.half half_copy : tensor<8xf16> {of = @w}
train.step @micro_step micro ("x" %x: tensor<8xf32>) {
  %0 = train.read @w.half : tensor<8xf16>
  train.update "sgd" @w, %x copy @w.half : tensor<8xf32>
}

// -----

// The next step would read the weights of this one.
train.variable @w parameter : tensor<8xf32>
// expected-error @below {{is read, but nothing writes it when its parameter changes}}
train.variable @w.half half_copy : tensor<8xf16> {of = @w}
train.step @micro_step micro ("x" %x: tensor<8xf32>) {
  %0 = train.read @w.half : tensor<8xf16>
  train.update "sgd" @w, %x : tensor<8xf32>
}

// -----

train.variable @w parameter : tensor<8xf32>
// expected-error @below {{expects 'of' to name a parameter of its shape}}
train.variable @w.half half_copy : tensor<4xf16> {of = @w}

// -----

// Moments in half precision would not grow.
train.variable @w parameter : tensor<8xf32>
// expected-error @below {{expects state in full precision, but got 'tensor<8xf16>'}}
train.variable @w.exp_avg optimizer_state : tensor<8xf16> {of = @w}

// -----

train.step @forward forward ("x" %x: tensor<8x8xf32>) {
  // expected-error @below {{still has 'train.half_product', a choice of precision, which train-insert-casts should have carried out}}
  %0 = nn.contract "ik,kj->ij" %x, %x {train.half_product} : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

train.step @micro_step micro ("x" %x: tensor<1xf16>) {
  // expected-error @below {{expects a loss in full precision}}
  train.report_loss %x, %x : tensor<1xf16>, tensor<1xf16>
}

// -----

// expected-warning @below {{has no 'train.step', so verify-precision has nothing to check; gpuopt-to-precision makes the steps of an imported model}}
module {
}
