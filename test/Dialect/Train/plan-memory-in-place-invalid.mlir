// RUN: gpuopt-opt %s --split-input-file --train-plan-memory -verify-diagnostics

// A kernel may overwrite only what the step itself makes: variables, constants
// and inputs are read again in the next step.

train.variable @w parameter : tensor<8x16xf32>
train.step @parameter micro ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<8x16xf32>
  // expected-error @below {{'nn.fused' op expects 'tanh' to be written over a tensor that an op of the step makes, but got what a 'train.read' gives}}
  %0 = nn.fused "tanh" %w {in_place = array<i64: 0>, nn.origins = #nn.origins<"tanh">} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = math.tanh %a : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}

// -----

train.step @constant micro ("x" %x: tensor<8x16xf32>) {
  %w = arith.constant dense<1.0> : tensor<8x16xf32>
  // expected-error @below {{expects 'tanh' to be written over a tensor that an op of the step makes, but got a constant}}
  %0 = nn.fused "tanh" %w {in_place = array<i64: 0>, nn.origins = #nn.origins<"tanh">} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = math.tanh %a : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}

// -----

// The memory of a view is that of its source.
train.step @input micro ("x" %x: tensor<128xf32>) {
  %v = nn.reshape %x : tensor<128xf32> to tensor<8x16xf32>
  // expected-error @below {{expects 'tanh' to be written over a tensor that an op of the step makes, but got an input of the step}}
  %0 = nn.fused "tanh" %v {in_place = array<i64: 0>, nn.origins = #nn.origins<"tanh">} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = math.tanh %a : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}

// -----

// The exponentials are written in the first walk over a row, and the second
// walk, which divides by their sum, reads the operand again.
train.step @walks micro ("x" %x: tensor<8x256xf32>) {
  %0 = nn.fused "tanh" %x : tensor<8x256xf32> -> tensor<8x256xf32> {
  ^bb0(%a: tensor<8x256xf32>):
    %3 = math.tanh %a : tensor<8x256xf32>
    nn.yield %3 : tensor<8x256xf32>
  }
  // expected-error @below {{expects operand 0 to be read before 'exp' is written over it, but another result or a reduction reads it later}}
  %1, %2 = nn.fused "exp" %0 {in_place = array<i64: 0, -1>, nn.origins = #nn.origins<"exp", "div">} : tensor<8x256xf32> -> tensor<8x256xf32>, tensor<8x256xf32> {
  ^bb0(%a: tensor<8x256xf32>):
    %3 = math.exp %a : tensor<8x256xf32>
    %sum = nn.reduce sum %3 [1] : tensor<8x256xf32>
    %wide = nn.broadcast %sum : tensor<8x1xf32> to tensor<8x256xf32>
    %4 = arith.divf %a, %wide : tensor<8x256xf32>
    nn.yield %3, %4 : tensor<8x256xf32>, tensor<8x256xf32>
  }
  train.output "y", %1 : tensor<8x256xf32>
  train.output "z", %2 : tensor<8x256xf32>
}

// -----

// In the iteration of a loop, a kernel may overwrite only what the iteration
// makes: the next one reads the same invariant.
train.step @invariant micro ("x" %x: tensor<3x8xf32>, "h" %h: tensor<8xf32>, "w" %w: tensor<8xf32>) {
  %r = nn.scan 3 slices(%x) states(%h) invariants(%w) : (tensor<3x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
  ^bb0(%xi: tensor<8xf32>, %hi: tensor<8xf32>, %wi: tensor<8xf32>):
    // expected-error @below {{expects 'tanh' to be written over a tensor that an op of the iteration makes, but got an argument of the iteration}}
    %0 = nn.fused "tanh" %wi {in_place = array<i64: 0>, nn.origins = #nn.origins<"tanh">} : tensor<8xf32> -> tensor<8xf32> {
    ^bb1(%a: tensor<8xf32>):
      %1 = math.tanh %a : tensor<8xf32>
      nn.yield %1 : tensor<8xf32>
    }
    %2 = nn.fused "add" %0, %hi : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> {
    ^bb1(%a: tensor<8xf32>, %b: tensor<8xf32>):
      %1 = arith.addf %a, %b : tensor<8xf32>
      nn.yield %1 : tensor<8xf32>
    }
    nn.yield %2 : tensor<8xf32>
  }
  train.output "y", %r : tensor<4x8xf32>
}

// -----

// What an iteration has overwritten is read neither in it nor by its end.
train.step @stale micro ("x" %x: tensor<3x8xf32>, "h" %h: tensor<8xf32>) {
  %r = nn.scan 3 slices(%x) states(%h) invariants() : (tensor<3x8xf32>, tensor<8xf32>) -> tensor<4x8xf32> {
  ^bb0(%xi: tensor<8xf32>, %hi: tensor<8xf32>):
    %0 = nn.fused "exp" %xi {nn.origins = #nn.origins<"exp">} : tensor<8xf32> -> tensor<8xf32> {
    ^bb1(%a: tensor<8xf32>):
      %1 = math.exp %a : tensor<8xf32>
      nn.yield %1 : tensor<8xf32>
    }
    %2 = nn.fused "tanh" %0 {in_place = array<i64: 0>, nn.origins = #nn.origins<"tanh">} : tensor<8xf32> -> tensor<8xf32> {
    ^bb1(%a: tensor<8xf32>):
      %1 = math.tanh %a : tensor<8xf32>
      nn.yield %1 : tensor<8xf32>
    }
    // expected-error @below {{reads 'exp', which has been overwritten}}
    %3 = nn.fused "sum" %0, %2, %hi : tensor<8xf32>, tensor<8xf32>, tensor<8xf32> -> tensor<8xf32> {
    ^bb1(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
      %1 = arith.addf %a, %b : tensor<8xf32>
      %4 = arith.addf %1, %c : tensor<8xf32>
      nn.yield %4 : tensor<8xf32>
    }
    nn.yield %3 : tensor<8xf32>
  }
  train.output "y", %r : tensor<4x8xf32>
}
