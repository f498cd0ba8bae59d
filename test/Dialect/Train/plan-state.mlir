// RUN: gpuopt-opt %s --train-plan-state | FileCheck %s
// RUN: gpuopt-opt %s --train-plan-state --train-plan-state | FileCheck %s

// The scalars of a step take 2048 bytes. Parameters come first, in the order of
// the file: @w needs 64 * 4 = 256 bytes, @b needs 16 and takes 256, since every
// offset is a multiple of that.
// CHECK: train.variable @w parameter {{.*}}memoryOffset = 2048 : i64
// CHECK-NEXT: train.variable @b parameter {{.*}}memoryOffset = 2304 : i64
// CHECK-NEXT: train.variable @mean buffer {{.*}}memoryOffset = 2560 : i64
// Gradients follow the order of their parameters, though @b.grad comes first in
// the module.
// CHECK-NEXT: train.variable @w.grad gradient {{.*}}memoryOffset = 2816 : i64
// CHECK-NEXT: train.variable @b.grad gradient {{.*}}memoryOffset = 3072 : i64
// Each state of the optimizer lies by itself: first all of exp_avg.
// CHECK-NEXT: train.variable @w.m optimizer_state {{.*}}memoryOffset = 3328 : i64
// CHECK-NEXT: train.variable @b.m optimizer_state {{.*}}memoryOffset = 3584 : i64
// CHECK-NEXT: train.variable @w.v optimizer_state {{.*}}memoryOffset = 3840 : i64
// CHECK-NEXT: train.variable @b.v optimizer_state {{.*}}memoryOffset = 4096 : i64
// 64 halves are 128 bytes, which take 256.
// CHECK-NEXT: train.variable @w.half half_copy {{.*}}memoryOffset = 4352 : i64
// CHECK-NEXT: train.variable @scratch workspace {{.*}}memoryOffset = 4608 : i64
// CHECK-NEXT: train.step
train.variable @b.grad gradient : tensor<4xf32> {of = @b}
train.variable @w parameter : tensor<64xf32>
train.variable @w.grad gradient : tensor<64xf32> {of = @w}
train.variable @w.m optimizer_state : tensor<64xf32> {of = @w}
train.variable @w.v optimizer_state : tensor<64xf32> {of = @w}
train.variable @w.half half_copy : tensor<64xf16> {of = @w}
train.variable @scratch workspace : tensor<16xi8>
train.variable @mean buffer : tensor<4xf32>
train.variable @b parameter : tensor<4xf32>
train.variable @b.m optimizer_state : tensor<4xf32> {of = @b}
train.variable @b.v optimizer_state : tensor<4xf32> {of = @b}
train.step @update update () {
  %dw = train.read @w.grad : tensor<64xf32>
  %db = train.read @b.grad : tensor<4xf32>
  train.grad_norm %dw, %db of [@w, @b] : tensor<64xf32>, tensor<4xf32>
  train.update "adamw" @w, %dw state {exp_avg = @w.m, exp_avg_sq = @w.v} : tensor<64xf32>
  train.update "adamw" @b, %db state {exp_avg = @b.m, exp_avg_sq = @b.v} : tensor<4xf32>
}
