// RUN: gpuopt-opt %s --train-plan-memory --verify-memory --split-input-file --verify-diagnostics

// A schedule promised an arena of 512 bytes; whatever ran since left work that
// needs 1024: both results live while the second is made.

// expected-error @below {{expects an arena of 512 bytes, as it was scheduled, but needs 1024}}
train.step @micro_step micro ("x" %x: tensor<8x16xf32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 0, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %1 = nn.fused "exp" %0 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}

// -----

// A place that was noted before is kept, and here it is one for two.
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

train.step @forgotten micro ("x" %x: tensor<8x16xf32>) {
  %0 = nn.fused "tanh" %x {train.offsets = array<i64: 0>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  // expected-error @below {{has no offset in the arena; run train-plan-memory before}}
  %1 = nn.fused "exp" %0 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}

// -----

train.step @beyond micro ("x" %x: tensor<8x16xf32>) {
  // expected-error @below {{ends beyond what 63 bits can count, at offset 9223372036854775552}}
  %0 = nn.fused "tanh" %x {train.offsets = array<i64: 9223372036854775552>} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %0 : tensor<8x16xf32>
}

// -----

// expected-warning @below {{has no 'train.step', so verify-memory has nothing to check; gpuopt-to-memory makes the steps of an imported model}}
module {
}

// -----

// Text without an op of the nn dialect is read as well.
train.step @forward forward ("x" %x: tensor<8xf32>) {
  %0 = arith.addf %x, %x : tensor<8xf32>
  train.output "y", %0 : tensor<8xf32>
}
