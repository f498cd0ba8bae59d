// RUN: gpuopt-opt %s --split-input-file --train-assign-precision="half-type=f16 device=h200" | FileCheck %s --check-prefix=LABELS
// Another choice takes the place of the first, but not of its casts.
// RUN: gpuopt-opt %s --split-input-file --pass-pipeline='builtin.module(train-assign-precision{half-type=bf16 device=h200},train-assign-precision{half-type=f16 device=h200})' | FileCheck %s --check-prefix=LABELS
// RUN: not gpuopt-opt %s --split-input-file --pass-pipeline='builtin.module(train-assign-precision{half-type=f16 device=h200},train-insert-casts,train-assign-precision{half-type=f16 device=h200})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'train.step' op has its precisions already, for which train-insert-casts has run; run train-assign-precision once, before it
// RUN: gpuopt-opt %s --split-input-file --train-assign-precision="half-type=f16 device=h200" --train-insert-casts | FileCheck %s

// A residual block: products, the sum and the norm's result are in half
// precision; the row's statistics stay in f32; kernels widen and round inside.

train.variable @w1 parameter : tensor<256x1024xf32>
train.variable @w2 parameter : tensor<1024x256xf32>

// The optimizer is not here, so nobody but `prepare` writes the copies.
// CHECK: train.variable @w1.half half_copy : tensor<256x1024xf16> {of = @w1}
// CHECK: train.step @micro_step
train.step @micro_step micro ("x" %x: tensor<4096x256xf32>) {
  // CHECK: %[[W1:.*]] = train.read @w1.half : tensor<256x1024xf16>
  %w1 = train.read @w1 : tensor<256x1024xf32>
  %w2 = train.read @w2 : tensor<1024x256xf32>
  // LABELS: nn.fused "norm" {{.*}} {nn.origins = #nn.origins<"y", "mean">, train.half_results = array<i1: true, false>}
  // CHECK: %[[NORM:.*]]:2 = nn.fused "norm" %{{.*}} -> tensor<4096x256xf16>, tensor<4096x1xf32>
  // CHECK: %[[Y:.*]] = arith.subf
  // CHECK-NEXT: %[[Y16:.*]] = arith.truncf %[[Y]] : tensor<4096x256xf32> to tensor<4096x256xf16>
  // CHECK: nn.yield %[[Y16]], %{{.*}} : tensor<4096x256xf16>, tensor<4096x1xf32>
  %y, %mean = nn.fused "norm" %x {nn.origins = #nn.origins<"y", "mean">} : tensor<4096x256xf32> -> tensor<4096x256xf32>, tensor<4096x1xf32> {
  ^bb0(%a: tensor<4096x256xf32>):
    %0 = nn.reduce sum %a [1] : tensor<4096x256xf32>
    %1 = nn.broadcast %0 : tensor<4096x1xf32> to tensor<4096x256xf32>
    %2 = arith.subf %a, %1 : tensor<4096x256xf32>
    nn.yield %2, %0 : tensor<4096x256xf32>, tensor<4096x1xf32>
  }
  // LABELS: nn.contract "ik,kj->ij" %{{.*}} {train.half_product, train.half_results = array<i1: true>}
  // CHECK: %[[UP:.*]] = nn.contract "ik,kj->ij" %[[NORM]]#0, %[[W1]] : tensor<4096x256xf16>, tensor<256x1024xf16>
  %up = nn.contract "ik,kj->ij" %y, %w1 : tensor<4096x256xf32>, tensor<256x1024xf32>
  // CHECK: nn.fused "tanh" %[[UP]] {{.*}} tensor<4096x1024xf16> -> tensor<4096x1024xf16>
  // CHECK: %[[WIDE:.*]] = arith.extf
  // CHECK: math.tanh %[[WIDE]] : tensor<4096x1024xf32>
  %t = nn.fused "tanh" %up {nn.origins = #nn.origins<"t">} : tensor<4096x1024xf32> -> tensor<4096x1024xf32> {
  ^bb0(%a: tensor<4096x1024xf32>):
    %0 = math.tanh %a : tensor<4096x1024xf32>
    nn.yield %0 : tensor<4096x1024xf32>
  }
  %down = nn.contract "ik,kj->ij" %t, %w2 : tensor<4096x1024xf32>, tensor<1024x256xf32>
  // What the sum reads of the input stays f32; what it is to others is rounded
  // once, also for the rest of this kernel.
  // CHECK: nn.fused "add" %{{.*}}, %{{.*}} : tensor<4096x256xf32>, tensor<4096x256xf16> -> tensor<4096x256xf16>, tensor<4096x256xf16>
  // CHECK: %[[SUM:.*]] = arith.addf
  // CHECK-NEXT: %[[SUM16:.*]] = arith.truncf %[[SUM]]
  // CHECK-NEXT: %[[AGAIN:.*]] = arith.extf %[[SUM16]]
  // CHECK-NEXT: arith.mulf %[[AGAIN]], %[[AGAIN]]
  %sum, %square = nn.fused "add" %x, %down {nn.origins = #nn.origins<"sum", "square">} : tensor<4096x256xf32>, tensor<4096x256xf32> -> tensor<4096x256xf32>, tensor<4096x256xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %b: tensor<4096x256xf32>):
    %0 = arith.addf %a, %b : tensor<4096x256xf32>
    %1 = arith.mulf %0, %0 : tensor<4096x256xf32>
    nn.yield %0, %1 : tensor<4096x256xf32>, tensor<4096x256xf32>
  }
  // The loss is f32, whatever it is made of.
  // CHECK: nn.fused "loss" {{.*}} -> tensor<1x1xf32>
  %loss = nn.fused "loss" %sum, %square, %mean {nn.origins = #nn.origins<"loss">} : tensor<4096x256xf32>, tensor<4096x256xf32>, tensor<4096x1xf32> -> tensor<1x1xf32> {
  ^bb0(%a: tensor<4096x256xf32>, %b: tensor<4096x256xf32>, %c: tensor<4096x1xf32>):
    %0 = arith.addf %a, %b : tensor<4096x256xf32>
    %1 = nn.broadcast %c : tensor<4096x1xf32> to tensor<4096x256xf32>
    %2 = arith.addf %0, %1 : tensor<4096x256xf32>
    %3 = nn.reduce sum %2 [0, 1] : tensor<4096x256xf32>
    nn.yield %3 : tensor<1x1xf32>
  }
  train.report_loss %loss, %loss : tensor<1x1xf32>, tensor<1x1xf32>
}
// CHECK: train.step @prepare prepare ()
// CHECK: train.refresh @w1.half from @w1
// CHECK: train.refresh @w2.half from @w2

// -----

// Attention: the scores are computed and kept in half precision; what a mask of
// -1e9 was added to is not, since it would be infinite there.

// CHECK-LABEL: train.step @evaluate evaluate ("q" %arg0: tensor<8x512x64xf32>, "k" %arg1:
train.step @evaluate evaluate ("q" %q: tensor<8x512x64xf32>, "k" %k: tensor<8x512x64xf32>, "m" %m: tensor<512x512xi1>) {
  // CHECK: %[[K:.*]] = nn.fused "cast" %arg1 {{.*}} tensor<8x512x64xf32> -> tensor<8x512x64xf16>
  // CHECK: %[[Q:.*]] = nn.fused "cast" %arg0
  // CHECK: nn.contract "bik,bjk->bij" %[[Q]], %[[K]] : tensor<8x512x64xf16>, tensor<8x512x64xf16>
  %scores = nn.contract "bik,bjk->bij" %q, %k : tensor<8x512x64xf32>, tensor<8x512x64xf32>
  // CHECK: nn.fused "mask" {{.*}} -> tensor<8x512x512xf32>
  %masked = nn.fused "mask" %scores, %m {nn.origins = #nn.origins<"masked">} : tensor<8x512x512xf32>, tensor<512x512xi1> -> tensor<8x512x512xf32> {
  ^bb0(%a: tensor<8x512x512xf32>, %b: tensor<512x512xi1>):
    %0 = arith.constant dense<-1.0e+09> : tensor<8x512x512xf32>
    %1 = nn.broadcast %b : tensor<512x512xi1> to tensor<8x512x512xi1>
    %2 = arith.select %1, %a, %0 : tensor<8x512x512xi1>, tensor<8x512x512xf32>
    nn.yield %2 : tensor<8x512x512xf32>
  }
  // CHECK: nn.fused "exp" {{.*}} -> tensor<8x512x512xf16>
  %p = nn.fused "exp" %masked {nn.origins = #nn.origins<"p">} : tensor<8x512x512xf32> -> tensor<8x512x512xf32> {
  ^bb0(%a: tensor<8x512x512xf32>):
    %0 = math.exp %a : tensor<8x512x512xf32>
    nn.yield %0 : tensor<8x512x512xf32>
  }
  // CHECK: nn.contract "bij,bjk->bik" %{{.*}}, %[[K]] to f32 : tensor<8x512x512xf16>, tensor<8x512x64xf16>
  %o = nn.contract "bij,bjk->bik" %p, %k : tensor<8x512x512xf32>, tensor<8x512x64xf32>
  train.output "o", %o : tensor<8x512x64xf32>
}

// -----

// A shared weight: one copy in half precision, seen through two views, and
// written by the optimizer; the rows that the embedding takes are f32.

train.variable @w parameter : tensor<8192x512xf32>

// CHECK-LABEL: train.step @micro_step
train.step @micro_step micro ("ids" %ids: tensor<2048xi64>, "dy" %dy: tensor<2048x8192xf32>) {
  %w = train.read @w : tensor<8192x512xf32>
  // CHECK: %[[W:.*]] = train.read @w.half : tensor<8192x512xf16>
  // CHECK-NOT: train.read @w.half
  // CHECK: nn.fused "take" %{{.*}}, %arg0 {{.*}} tensor<8192x512xf32>, tensor<2048xi64> -> tensor<2048x512xf16>
  %x = nn.fused "take" %w, %ids {nn.origins = #nn.origins<"x">} : tensor<8192x512xf32>, tensor<2048xi64> -> tensor<2048x512xf32> {
  ^bb0(%a: tensor<8192x512xf32>, %b: tensor<2048xi64>):
    %0 = nn.take %a, %b : tensor<8192x512xf32>, tensor<2048xi64>
    nn.yield %0 : tensor<2048x512xf32>
  }
  // CHECK: %[[T:.*]] = nn.transpose %[[W]] [1, 0] : tensor<8192x512xf16>
  // CHECK: nn.contract "ik,kj->ij" %{{.*}}, %[[T]]
  %t = nn.transpose %w [1, 0] : tensor<8192x512xf32>
  %logits = nn.contract "ik,kj->ij" %x, %t : tensor<2048x512xf32>, tensor<512x8192xf32>
  %l = nn.fused "loss" %logits {nn.origins = #nn.origins<"l">} : tensor<2048x8192xf32> -> tensor<1x1xf32> {
  ^bb0(%a: tensor<2048x8192xf32>):
    %0 = nn.reduce sum %a [0, 1] : tensor<2048x8192xf32>
    nn.yield %0 : tensor<1x1xf32>
  }
  train.report_loss %l, %l : tensor<1x1xf32>, tensor<1x1xf32>
  // CHECK: nn.contract "ij,jk->ik" %{{.*}}, %[[W]]
  %dx = nn.contract "ij,jk->ik" %dy, %w : tensor<2048x8192xf32>, tensor<8192x512xf32>
  // Rows are added up in f32.
  // CHECK: nn.scatter_add %{{.*}}, %arg0 rows 8192 to f32 : tensor<2048x512xf16>, tensor<2048xi64>
  %dw = nn.scatter_add %dx, %ids rows 8192 : tensor<2048x512xf32>, tensor<2048xi64>
  train.grad_norm %dw of [@w] : tensor<8192x512xf32>
  // CHECK: train.update "sgd" @w, %{{.*}} copy @w.half
  train.update "sgd" @w, %dw : tensor<8192x512xf32>
}

// -----

// What a kernel reads of a constant is not computed in it, but too large for
// half precision all the same; other constants are not.

// CHECK-LABEL: train.step @evaluate
train.step @evaluate evaluate ("q" %q: tensor<8x512x4xf32>, "k" %k: tensor<8x512x512xf32>) {
  %large = arith.constant dense<[0.0, -1.0e6, 1.0, 2.0]> : tensor<4xf32>
  %small = arith.constant dense<[0.0, -1.0e4, 1.0, 2.0]> : tensor<4xf32>
  %scores = nn.contract "bik,bij->bkj" %q, %k : tensor<8x512x4xf32>, tensor<8x512x512xf32>
  // CHECK: nn.fused "large" {{.*}} -> tensor<8x512x4xf32>
  %0 = nn.fused "large" %q, %large {nn.origins = #nn.origins<"large">} : tensor<8x512x4xf32>, tensor<4xf32> -> tensor<8x512x4xf32> {
  ^bb0(%a: tensor<8x512x4xf32>, %b: tensor<4xf32>):
    %1 = nn.broadcast %b : tensor<4xf32> to tensor<8x512x4xf32>
    %2 = arith.addf %a, %1 : tensor<8x512x4xf32>
    nn.yield %2 : tensor<8x512x4xf32>
  }
  // CHECK: nn.fused "small" {{.*}} -> tensor<8x512x4xf16>
  %3 = nn.fused "small" %q, %small {nn.origins = #nn.origins<"small">} : tensor<8x512x4xf32>, tensor<4xf32> -> tensor<8x512x4xf32> {
  ^bb0(%a: tensor<8x512x4xf32>, %b: tensor<4xf32>):
    %4 = nn.broadcast %b : tensor<4xf32> to tensor<8x512x4xf32>
    %5 = arith.addf %a, %4 : tensor<8x512x4xf32>
    nn.yield %5 : tensor<8x512x4xf32>
  }
  %large_product = nn.contract "bik,bjk->bij" %0, %q : tensor<8x512x4xf32>, tensor<8x512x4xf32>
  %small_product = nn.contract "bik,bjk->bij" %3, %q : tensor<8x512x4xf32>, tensor<8x512x4xf32>
  train.output "scores", %scores : tensor<8x4x512xf32>
  train.output "o", %large_product : tensor<8x512x512xf32>
  train.output "p", %small_product : tensor<8x512x512xf32>
}
