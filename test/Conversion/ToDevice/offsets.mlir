// RUN: gpuopt-opt %s --split-input-file --convert-to-device -verify-diagnostics

// The plan of the arena is checked where it is read.

train.step @without micro ("x" %x: tensor<8x16xf32>) {
  // expected-error @below {{has no offset in the arena; run train-plan-memory before}}
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}

// -----

// expected-error @below {{has an arena that fails its check}}
train.step @overlapping micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x {train.offsets = array<i64: 256>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %1 = nn.fused "exp" %0 {train.offsets = array<i64: 0>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}

// -----

// expected-error @below {{has an arena that fails its check}}
train.step @unaligned micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x {train.offsets = array<i64: 100>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}
