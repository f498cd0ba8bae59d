// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

// expected-error @below {{expects a value of type 'tensor<4xf32>', but got 'tensor<3xf32>'}}
train.variable @v parameter : tensor<4xf32> {value = dense<0.0> : tensor<3xf32>}

// -----

// expected-error @below {{expects at most one of 'value' and 'file'}}
train.variable @v parameter : tensor<1xf32> {value = dense<0.0> : tensor<1xf32>, file = "a", offset = 0 : i64, sizeInBytes = 4 : i64}

// -----

// expected-error @below {{expects 16 bytes for 'tensor<4xf32>', but got 12}}
train.variable @v parameter : tensor<4xf32> {file = "a", offset = 0 : i64, sizeInBytes = 12 : i64}

// -----

// expected-error @below {{expects 'of', the parameter that it belongs to}}
train.variable @v first_moment : tensor<4xf32>

// -----

// expected-note @below {{the variable is here}}
train.variable @v parameter : tensor<4xf32>
train.step @s forward () {
  // expected-error @below {{expects type 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %0 = train.read @v : tensor<5xf32>
}

// -----

train.step @s forward () {
  // expected-error @below {{expects a variable named @missing}}
  %0 = train.read @missing : tensor<5xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects one argument of the same type for each operand}}
  %0 = train.recompute "why" %x : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<5xf32>):
    %1 = arith.constant dense<0.0> : tensor<4xf32>
    train.yield %1 : tensor<4xf32>
  }
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  // expected-error @below {{expects the yielded values to have the results' types}}
  %0 = train.recompute "why" %x : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    train.yield %a : tensor<4xf32>
  }
}

// -----

train.variable @w parameter : tensor<4xf32>
train.step @s forward ("x" %x: tensor<4xf32>) {
  %w = train.read @w : tensor<4xf32>
  // expected-error @below {{expects a value of the step, but got a variable's, which updates change}}
  %h = train.offload %w : tensor<4xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<4xf32>
  %1 = nn.reduce max %x [0] : tensor<4xf32>
  %h = train.offload %0 : tensor<1xf32>
  // expected-error @below {{expects a copy of the value that it waits for}}
  train.await_offload %h of %1 : tensor<1xf32>
}

// -----

train.step @s forward ("x" %x: tensor<4xf32>) {
  %0 = nn.reduce sum %x [0] : tensor<4xf32>
  // expected-error @below {{expects the result of a 'train.reload'}}
  train.await_reload %0 : tensor<1xf32>
}
