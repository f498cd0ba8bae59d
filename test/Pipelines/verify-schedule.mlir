// RUN: gpuopt-opt %s --verify-schedule --split-input-file --verify-diagnostics
// RUN: not gpuopt-opt %s --cse --verify-schedule --split-input-file 2>&1 | FileCheck %s --check-prefix=MERGED

// What the phase leaves, and what is left of it once the memory is planned. A
// mark alone does not keep two equal ops apart: cse makes one of them.
// MERGED: 'train.step' op expects as many 'train.recompute' and 'train.reload' ops as it was scheduled with, 3, but got 2
train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 3, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
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

// expected-error @below {{expects as many 'train.recompute' and 'train.reload' ops as it was scheduled with, 1, but got 0}}
train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
  train.output "e", %x : tensor<8xf32>
}

// -----

train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
  // expected-error @below {{is computed again, but nothing reads it}}
  %0 = nn.contract "i,j->ij" %x, %x {train.recomputed = "frees 256 bytes"} : tensor<8xf32>, tensor<8xf32>
}

// -----

// Behind the update, the product would read the new weight, and behind the norm
// train.recompute the new loss scale.
train.variable @w parameter : tensor<8xf32> {memoryOffset = 2048 : i64}
train.step @micro_step micro ("x" %x: tensor<8xf32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
  %w = train.read @w : tensor<8xf32>
  train.update "sgd" @w, %x : tensor<8xf32>
  // expected-error @below {{is computed again from @w, which has been written before it}}
  %0 = nn.contract "i,j->ij" %x, %w {train.recomputed = "frees 256 bytes"} : tensor<8xf32>, tensor<8xf32>
  train.output "p", %0 : tensor<8x8xf32>
}

// -----

train.variable @w parameter : tensor<f32> {memoryOffset = 2048 : i64}
train.variable @loss_scale loss_scale : tensor<f32> {memoryOffset = 2304 : i64}
train.step @micro_step micro ("x" %x: tensor<f32>) attributes {train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 1, plainNanoseconds = 2.0 : f64, addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64>} {
  %s = train.read @loss_scale : tensor<f32>
  train.grad_norm %x of [@w] scale @loss_scale over 1 : tensor<f32>
  // expected-error @below {{is computed again from @loss_scale, which has been written before it}}
  %0 = train.recompute "frees 4 bytes" %s : (tensor<f32>) -> tensor<f32> {
  ^bb0(%a: tensor<f32>):
    %1 = math.exp %a : tensor<f32>
    train.yield %1 : tensor<f32>
  }
  train.output "e", %0 : tensor<f32>
}

// -----

// expected-error @below {{has no memory offset; run train-plan-state before}}
train.variable @w parameter : tensor<8xf32>

// -----

// The scalars of a step take the first 2048 bytes.
// expected-error @below {{expects a memory offset that is a multiple of 256 and at least 2048, but got 1024}}
train.variable @w parameter : tensor<8xf32> {memoryOffset = 1024 : i64}

// -----

train.variable @w parameter : tensor<8xf32> {memoryOffset = 2048 : i64}
// expected-error @below {{lies at offset 2048, as 'w' does}}
train.variable @b parameter : tensor<8xf32> {memoryOffset = 2048 : i64}

// -----

// 100 floats are 400 bytes, which take 512.
train.variable @w parameter : tensor<100xf32> {memoryOffset = 2048 : i64}
// expected-error @below {{begins at offset 2304, before the end of 'w' at 2560}}
train.variable @b parameter : tensor<8xf32> {memoryOffset = 2304 : i64}

// -----

// expected-warning @below {{has no 'train.step', so verify-schedule has nothing to check; gpuopt-to-schedule makes the steps of an imported model}}
module {
}
