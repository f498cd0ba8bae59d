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
