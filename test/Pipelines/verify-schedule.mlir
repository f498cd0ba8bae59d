// RUN: gpuopt-opt %s --verify-schedule --split-input-file --verify-diagnostics
// RUN: not gpuopt-opt %s --cse --verify-schedule --split-input-file 2>&1 | FileCheck %s --check-prefix=MERGED

// What the phase leaves, and what is left of it once the memory is planned. A
// mark alone does not keep two equal ops apart: cse makes one of them.
// MERGED: 'train.step' op expects 3 repetitions, as it was scheduled, but got 2
train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = {repeats = 3 : i64}} {
  %0 = train.recompute "frees 32 bytes" %x : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %3 = nn.fused "exp" %a : tensor<8xf32> -> tensor<8xf32> {
    ^bb0(%b: tensor<8xf32>):
      %4 = math.exp %b : tensor<8xf32>
      nn.yield %4 : tensor<8xf32>
    }
    train.yield %3 : tensor<8xf32>
  }
  %1 = nn.contract "i,j->ij" %x, %x {train.recomputed = "frees 256 bytes"} : tensor<8xf32>, tensor<8xf32>
  %2 = nn.contract "i,j->ij" %x, %x {train.recomputed = "frees 256 bytes"} : tensor<8xf32>, tensor<8xf32>
  train.output "e", %0 : tensor<8xf32>
  train.output "p", %1 : tensor<8x8xf32>
  train.output "q", %2 : tensor<8x8xf32>
}

// -----

// expected-error @below {{expects 1 repetitions, as it was scheduled, but got 0}}
train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = {repeats = 1 : i64}} {
  train.output "e", %x : tensor<8xf32>
}

// -----

train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = {repeats = 1 : i64}} {
  // expected-error @below {{is computed again, but nobody reads it}}
  %0 = nn.contract "i,j->ij" %x, %x {train.recomputed = "frees 256 bytes"} : tensor<8xf32>, tensor<8xf32>
}
