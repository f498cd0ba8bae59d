// RUN: gpuopt-opt %s --verify-train --split-input-file --verify-diagnostics

// What the phase leaves.
train.variable @w parameter : tensor<8xf32>
train.step @micro_step micro ("x" %x: tensor<8xf32>) {
  %loss = arith.constant dense<1.0> : tensor<1xf32>
  train.report_loss %loss, %loss : tensor<1xf32>, tensor<1xf32>
  train.grad_norm %x of [@w] : tensor<8xf32>
  train.update "sgd" @w, %x : tensor<8xf32>
}

// -----

// A function that no step has taken in.
// expected-error @below {{expects to be part of a step}}
func.func @forward(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

train.step @one forward ("x" %x: tensor<8xf32>) {
}
// expected-error @below {{is a second step of kind 'forward'}}
train.step @two forward ("x" %x: tensor<8xf32>) {
}

// -----

// The model trains on nothing.
// expected-error @below {{expects one loss to be reported, but got 0}}
train.step @micro_step micro ("x" %x: tensor<8xf32>) {
}

// -----

// The gradients are not known to be finite, nor clipped, where they are used.
train.variable @w parameter : tensor<8xf32>
train.step @micro_step micro ("x" %x: tensor<8xf32>) {
  %loss = arith.constant dense<1.0> : tensor<1xf32>
  train.report_loss %loss, %loss : tensor<1xf32>, tensor<1xf32>
  // expected-error @below {{expects 'train.grad_norm' before it}}
  train.update "sgd" @w, %x : tensor<8xf32>
  train.grad_norm %x of [@w] : tensor<8xf32>
}

// -----

// The norm is that of another gradient.
train.variable @w parameter : tensor<8xf32>
train.step @micro_step micro ("x" %x: tensor<8xf32>, "y" %y: tensor<8xf32>) {
  %loss = arith.constant dense<1.0> : tensor<1xf32>
  train.report_loss %loss, %loss : tensor<1xf32>, tensor<1xf32>
  train.grad_norm %y of [@w] : tensor<8xf32>
  // expected-error @below {{expects its gradient to be the one that 'train.grad_norm' has for @w}}
  train.update "sgd" @w, %x : tensor<8xf32>
}

// -----

train.variable @w parameter : tensor<2x8xf32>
train.variable @m optimizer_state : tensor<2x8xf32> {of = @w}
train.step @update update ("x" %x: tensor<2x8xf32>) {
  train.grad_norm %x of [@w] : tensor<2x8xf32>
  %0 = arith.negf %x : tensor<2x8xf32>
  // expected-error @below {{expects its gradient to be the one that 'train.grad_norm' has for @w}}
  %d = train.direction "muon" of @w, %0 state {momentum_buffer = @m} : tensor<2x8xf32> -> tensor<2x8xf32>
  train.update "muon" @w, %d : tensor<2x8xf32>
}

// -----

// What products make of a direction is not the gradient, and need not be.
train.variable @w parameter : tensor<2x8xf32>
train.variable @m optimizer_state : tensor<2x8xf32> {of = @w}
train.step @update update ("x" %x: tensor<2x8xf32>) {
  train.grad_norm %x of [@w] : tensor<2x8xf32>
  // expected-note @below {{the first one is here}}
  %d = train.direction "muon" of @w, %x state {momentum_buffer = @m} : tensor<2x8xf32> -> tensor<2x8xf32>
  %0 = arith.negf %d : tensor<2x8xf32>
  train.update "muon" @w, %0 : tensor<2x8xf32>
  // expected-error @below {{gives the direction of @w a second time}}
  %e = train.direction "muon" of @w, %x state {momentum_buffer = @m} : tensor<2x8xf32> -> tensor<2x8xf32>
}

// -----

train.variable @w parameter : tensor<2x8xf32>
train.step @update update ("x" %x: tensor<2x8xf32>) {
  train.grad_norm %x of [@w] : tensor<2x8xf32>
  // expected-error @below {{expects 'train.direction' before it}}
  train.update "muon" @w, %x : tensor<2x8xf32>
}

// -----

// A tied weight of which each use has an update of its own.
train.variable @w parameter : tensor<8xf32>
train.step @update update () {
  %g = train.read @w : tensor<8xf32>
  train.grad_norm %g of [@w] : tensor<8xf32>
  // expected-note @below {{the first one is here}}
  train.update "sgd" @w, %g : tensor<8xf32>
  // expected-error @below {{updates @w a second time}}
  train.update "sgd" @w, %g : tensor<8xf32>
}

// -----

train.step @forward forward ("x" %x: tensor<2x8x16xf64>) {
  // expected-error @below {{must not be there any more, since its elements are f64: a pass such as nn-expand-attention spells it out}}
  %0:2 = nn.attention %x, %x, %x scale 1.0 : tensor<2x8x16xf64>, tensor<2x8x16xf64>, tensor<2x8x16xf64>
}

// -----

// expected-error @below {{expects a step}}
module {
}
