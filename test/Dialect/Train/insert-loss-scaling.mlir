// RUN: gpuopt-opt %s --train-insert-loss-scaling=enabled=true | FileCheck %s
// RUN: gpuopt-opt %s --train-insert-loss-scaling | FileCheck %s --check-prefix=PLAIN
// RUN: gpuopt-opt %s --train-insert-loss-scaling=enabled=true --kernels-form-clusters | gpuopt-opt --train-plan-memory --convert-to-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// The seed is the scale; the norm takes it out again; what the forward writes
// is kept before and restored after.

// CHECK-DAG: train.variable @loss_scale loss_scale : tensor<f32>
// CHECK-DAG: train.variable @mean.snapshot snapshot : tensor<4xf32> {of = @mean}
// PLAIN-NOT: loss_scale
train.variable @w parameter : tensor<4xf32>
train.variable @mean buffer : tensor<4xf32>

// CHECK: train.step @micro_step
// CHECK-NEXT: train.snapshot @mean in @mean.snapshot
// PLAIN: train.step @micro_step
// PLAIN-NOT: train.snapshot
train.step @micro_step micro ("x" %x: tensor<4xf32>) {
  %w = train.read @w : tensor<4xf32>
  train.write @mean, %x : tensor<4xf32>
  %loss, %weight = nn.fused "loss" %w, %x : tensor<4xf32>, tensor<4xf32> -> tensor<1xf32>, tensor<1xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = arith.mulf %a, %b : tensor<4xf32>
    %1 = nn.reduce sum %0 [0] : tensor<4xf32>
    %2 = arith.constant dense<1.0> : tensor<1xf32>
    nn.yield %1, %2 : tensor<1xf32>, tensor<1xf32>
  }
  train.report_loss %loss, %weight : tensor<1xf32>, tensor<1xf32>
  // CHECK: %[[SCALE:.*]] = train.read @loss_scale : tensor<f32>
  // PLAIN: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  %seed = train.seed of 6 : tensor<f32>
  // CHECK: %[[QUARTER:.*]] = arith.constant dense<2.500000e-01> : tensor<f32>
  // CHECK: %[[SEED:.*]] = arith.mulf %[[SCALE]], %[[QUARTER]]
  // CHECK: nn.broadcast %[[SEED]]
  // PLAIN: nn.broadcast %[[ONE]]
  %seeds = nn.broadcast %seed : tensor<f32> to tensor<4xf32>
  %gradient = nn.fused "product" %seeds, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %0 = arith.mulf %a, %b : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  // CHECK: train.grad_norm %{{.*}} of [@w] scale @loss_scale over 4 : tensor<4xf32>
  // CHECK-NEXT: train.restore @mean from @mean.snapshot
  // PLAIN: train.grad_norm %{{[^ ]*}} of [@w] : tensor<4xf32>
  // PLAIN-NOT: train.restore
  train.grad_norm %gradient of [@w] : tensor<4xf32>
  train.update "sgd" @w, %gradient : tensor<4xf32>
}

// CXX: static const GradientInfo kGradients[] = {
// CXX-NEXT: {"w", 0},
// CXX: begin_step(ctx, state, hyper);
// CXX: snapshot(ctx, state, m[kMeanSnapshot], m[{{kMean2?}}], 4);
// CXX: finish_grad_norm(ctx, state, hyper, m[kGradNormPartials], 1, m[{{kLossScale2?}}], 4);
// CXX: restore(ctx, state, m[{{kMean2?}}], m[kMeanSnapshot], 4);
