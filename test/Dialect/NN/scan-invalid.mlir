// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics

func.func @one_turn(%h0: tensor<4xf32>) {
  // expected-error @below {{'nn.scan' op expects two iterations or more, but got 1}}
  %h = nn.scan 1 slices() states(%h0) invariants() : (tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%hi: tensor<4xf32>):
    nn.yield %hi : tensor<4xf32>
  }
  return
}

// -----

func.func @entries(%x: tensor<5x4xf32>, %h0: tensor<4xf32>) {
  // expected-error @below {{'nn.scan' op expects slices with 3 entries, but got 'tensor<5x4xf32>'}}
  %h = nn.scan 3 slices(%x) states(%h0) invariants() : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%xi: tensor<4xf32>, %hi: tensor<4xf32>):
    nn.yield %xi : tensor<4xf32>
  }
  return
}

// -----

func.func @arguments(%h0: tensor<4xf32>) {
  // expected-error @below {{expects a body with the types of entries, states and invariants as arguments, 'tensor<4xf32>', but got 'tensor<5xf32>'}}
  %h = nn.scan 3 slices() states(%h0) invariants() : (tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%hi: tensor<5xf32>):
    nn.yield %hi : tensor<5xf32>
  }
  return
}

// -----

func.func @yielded(%h0: tensor<4xf32>) {
  // expected-error @below {{expects its body to yield values of the types of its 1 states and one for each of its other 0 results, but got 'tensor<4xf32>', 'tensor<4xf32>'}}
  %h = nn.scan 3 slices() states(%h0) invariants() : (tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%hi: tensor<4xf32>):
    nn.yield %hi, %hi : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @history(%h0: tensor<4xf32>) {
  // expected-error @below {{expects result 0, the history of a state, to be 'tensor<4x4xf32>', but got 'tensor<3x4xf32>'}}
  %h = nn.scan 3 slices() states(%h0) invariants() : (tensor<4xf32>) -> tensor<3x4xf32> {
  ^bb0(%hi: tensor<4xf32>):
    nn.yield %hi : tensor<4xf32>
  }
  return
}

// -----

func.func @stacked(%x: tensor<3x4xf32>) {
  // expected-error @below {{expects result 0, of an entry per iteration, to be 'tensor<3x4xf32>', but got 'tensor<4x4xf32>'}}
  %y = nn.scan 3 slices(%x) states() invariants() : (tensor<3x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%xi: tensor<4xf32>):
    nn.yield %xi : tensor<4xf32>
  }
  return
}

// -----

func.func @random(%x: tensor<3x4xf32>) {
  %y = nn.scan 3 slices(%x) states() invariants() : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%xi: tensor<4xf32>):
    // expected-error @below {{'nn.random_uniform' op must not be in an iteration of 'nn.scan'}}
    %0 = nn.random_uniform stream 1 : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return
}
