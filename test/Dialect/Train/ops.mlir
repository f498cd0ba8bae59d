// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --mlir-print-op-generic | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT

// Neither of two equal recomputations goes away, and neither becomes the first
// execution, though everything in them is equal to it.

// CHECK-LABEL: train.step @s
// KEPT-LABEL: train.step @s
train.step @s forward ("x" %x: tensor<8x16xf32>) {
  // KEPT: %[[FIRST:.*]] = nn.reduce sum
  %0 = nn.reduce sum %x [1] : tensor<8x16xf32>
  // CHECK: train.recompute "why" %{{.*}} : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<8x16xf32>):
  // CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[A]]
  // CHECK-NEXT: train.yield %[[SUM]] : tensor<8x1xf32>
  // KEPT: %[[SECOND:.*]] = train.recompute "why"
  // KEPT: nn.reduce sum
  %1 = train.recompute "why" %x : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = nn.reduce sum %a [1] : tensor<8x16xf32>
    train.yield %2 : tensor<8x1xf32>
  }
  // KEPT: %[[THIRD:.*]] = train.recompute "why"
  %3 = train.recompute "why" %x : (tensor<8x16xf32>) -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %4 = nn.reduce sum %a [1] : tensor<8x16xf32>
    train.yield %4 : tensor<8x1xf32>
  }
  // KEPT: train.output "first", %[[FIRST]]
  // KEPT: train.output "second", %[[SECOND]]
  // KEPT: train.output "third", %[[THIRD]]
  train.output "first", %0 : tensor<8x1xf32>
  train.output "second", %1 : tensor<8x1xf32>
  train.output "third", %3 : tensor<8x1xf32>
}

// Neither are transfers merged, nor moved, nor dropped where their results are
// equal or unused.

// CHECK-LABEL: train.step @transfers
// KEPT-LABEL: train.step @transfers
train.step @transfers forward ("x" %x: tensor<8x16xf32>) {
  // KEPT: %[[SUM:.*]] = nn.reduce sum
  %0 = nn.reduce sum %x [1] : tensor<8x16xf32>
  // CHECK: %[[H:.*]] = train.offload %[[V:.*]] : tensor<8x1xf32>
  // KEPT: %[[H:.*]] = train.offload %[[SUM]] : tensor<8x1xf32>
  // KEPT-NEXT: train.await_offload %[[H]] of %[[SUM]] : tensor<8x1xf32>
  %h = train.offload %0 : tensor<8x1xf32>
  // CHECK-NEXT: train.await_offload %[[H]] of %[[V]] : tensor<8x1xf32>
  train.await_offload %h of %0 : tensor<8x1xf32>
  // CHECK-NEXT: %[[A:.*]] = train.reload "why" %[[H]] : tensor<8x1xf32>
  // CHECK-NEXT: train.await_reload %[[A]] : tensor<8x1xf32>
  // KEPT-NEXT: %[[A:.*]] = train.reload "why" %[[H]] : tensor<8x1xf32>
  // KEPT-NEXT: train.await_reload %[[A]]
  %1 = train.reload "why" %h : tensor<8x1xf32>
  train.await_reload %1 : tensor<8x1xf32>
  // KEPT-NEXT: %[[B:.*]] = train.reload "why" %[[H]] : tensor<8x1xf32>
  // KEPT-NEXT: train.await_reload %[[B]]
  %2 = train.reload "why" %h : tensor<8x1xf32>
  train.await_reload %2 : tensor<8x1xf32>
  // KEPT-NEXT: train.output "first", %[[A]]
  train.output "first", %1 : tensor<8x1xf32>
}

// What a step does with variables.

train.variable @w parameter : tensor<4x8xf32>
train.variable @w16 half_copy : tensor<4x8xf16> {of = @w}
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @v optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @momentum optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @snapshot buffer : tensor<4x8xf32>
train.variable @scale loss_scale : tensor<f32>

// CHECK-LABEL: train.step @variables
train.step @variables micro ("x" %x: tensor<4x8xf32>) {
  // CHECK: train.read @w : tensor<4x8xf32>
  %w = train.read @w : tensor<4x8xf32>
  // CHECK: train.write @snapshot, %{{.*}} : tensor<4x8xf32>
  train.write @snapshot, %w : tensor<4x8xf32>
  // CHECK: train.accumulate @momentum, %{{.*}} : tensor<4x8xf32>
  train.accumulate @momentum, %x : tensor<4x8xf32>
  // CHECK: train.snapshot @w in @snapshot
  train.snapshot @w in @snapshot
  // CHECK: train.restore @w from @snapshot
  train.restore @w from @snapshot
  // CHECK: train.refresh @w16 from @w
  train.refresh @w16 from @w
  // CHECK: train.seed of 32 : tensor<1xf32>
  %seed = train.seed of 32 : tensor<1xf32>
  // CHECK: train.report_loss %{{.*}}, %{{.*}} : tensor<1xf32>, tensor<1xf32>
  train.report_loss %seed, %seed : tensor<1xf32>, tensor<1xf32>
  // CHECK: train.report_loss %{{.*}}, %{{.*}} part 1 : tensor<1xf32>, tensor<1xf32>
  train.report_loss %seed, %seed part 1 : tensor<1xf32>, tensor<1xf32>
  // CHECK: train.grad_norm %{{.*}} of [@w] scale @scale over 32 : tensor<4x8xf32>
  train.grad_norm %x of [@w] scale @scale over 32 : tensor<4x8xf32>
  // CHECK: train.update "adamw" @w, %{{.*}} state {exp_avg = @m, exp_avg_sq = @v} copy @w16 decay group 2 : tensor<4x8xf32>
  train.update "adamw" @w, %x state {exp_avg = @m, exp_avg_sq = @v} copy @w16 decay group 2 : tensor<4x8xf32>
  // Two optimizers in one step, and one whose update has products inside.
  // CHECK: train.direction "muon" of @w, %{{.*}} state {momentum_buffer = @momentum} : tensor<4x8xf32> -> tensor<4x8xf32>
  %d = train.direction "muon" of @w, %x state {momentum_buffer = @momentum} : tensor<4x8xf32> -> tensor<4x8xf32>
  // CHECK: train.update "muon" @w, %{{.*}} copy @w16 decay : tensor<4x8xf32>
  train.update "muon" @w, %d copy @w16 decay : tensor<4x8xf32>
}

// CHECK-LABEL: train.step @precise
// CHECK-SAME: train.precision = #train.precision<summary = "one", chosenNanoseconds = 1.000000e+00 : f64, f32Nanoseconds = 2.000000e+00 : f64>
train.step @precise micro () attributes {
  train.precision = #train.precision<summary = "one", chosenNanoseconds = 1.0 : f64, f32Nanoseconds = 2.0 : f64>} {
}

// CHECK: module attributes {train.half_type = bf16,
// CHECK-SAME: train.unmet_budget = #train.unmet_budget<smallest 8192 limit 4096 beside [<"parameters" of 2048>, <"inputs" of 64>] alive at "/fc" [<origin = "/fc", type = "f32[8]", bytes = 32, result = 1>, <origin = "x", type = "f32[8]", bytes = 32>]>
module attributes {train.half_type = bf16, train.unmet_budget = #train.unmet_budget<
    smallest 8192 limit 4096 beside [<"parameters" of 2048>, <"inputs" of 64>]
    alive at "/fc" [<origin = "/fc", type = "f32[8]", bytes = 32, result = 1>, <origin = "x", type = "f32[8]", bytes = 32>]>} {
}

// CHECK-LABEL: train.step @another
// CHECK-SAME: "labels"
// CHECK-SAME: labelsRanges = [#train.index_range<0 to 10 or -100>]
// CHECK-SAME: train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 0, plainNanoseconds = 2.000000e+00 : f64, addedNanoseconds = 1.000000e+00 : f64, lowerBoundNanoseconds = 0.000000e+00 : f64, transfers = <bytes = 64, busyNanoseconds = 5.000000e-01 : f64, waitedNanoseconds = 2.500000e-01 : f64>>
train.step @another update ("x" %x: tensor<4x8xf32>, "labels" %l: tensor<4xi64>) attributes {
  labelsNames = ["labels"], labelsRanges = [#train.index_range<0 to 10 or -100>],
  train.plan = #train.plan<arenaBytes = 512, plainArenaBytes = 1024, repeats = 0, plainNanoseconds = 2.0 : f64,
                           addedNanoseconds = 1.0 : f64, lowerBoundNanoseconds = 0.0 : f64,
                           transfers = <bytes = 64, busyNanoseconds = 0.5 : f64, waitedNanoseconds = 0.25 : f64>>} {
  // CHECK: train.update "sgd" @w, %{{.*}} state {momentum_buffer = @momentum} : tensor<4x8xf32>
  train.update "sgd" @w, %x state {momentum_buffer = @momentum} : tensor<4x8xf32>
}
