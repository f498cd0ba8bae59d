// RUN: gpuopt-opt %s --train-insert-loss-scaling=enabled=true --train-insert-casts | FileCheck %s

// The model's author has given these names to parameters.
// CHECK-DAG: train.variable @loss_scale parameter : tensor<4x4xf32>
// CHECK-DAG: train.variable @loss_scale_1 loss_scale : tensor<f32>
// CHECK-DAG: train.variable @w.half parameter : tensor<4x4xf32>
// CHECK-DAG: train.variable @w.half_1 half_copy : tensor<4x4xf16> {of = @w}
// CHECK-DAG: train.variable @prepare parameter : tensor<4x4xf32>
module attributes {train.half_type = f16} {
train.variable @w parameter : tensor<4x4xf32>
train.variable @w.half parameter : tensor<4x4xf32>
train.variable @loss_scale parameter : tensor<4x4xf32>
train.variable @prepare parameter : tensor<4x4xf32>

// CHECK-LABEL: train.step @micro_step
// CHECK-DAG: train.read @w.half_1 : tensor<4x4xf16>
// CHECK-DAG: train.read @loss_scale_1 : tensor<f32>
// CHECK: train.grad_norm {{.*}} scale @loss_scale_1
// CHECK: train.update "adamw" @w, {{.*}} copy @w.half_1
train.step @micro_step micro ("x" %x: tensor<4x4xf32>) {
  %w = train.read @w : tensor<4x4xf32>
  %y = nn.contract "ik,kj->ij" %x, %w {train.half_product, train.half_results = array<i1: false>} : tensor<4x4xf32>, tensor<4x4xf32>
  train.output "y", %y : tensor<4x4xf32>
  %seed = train.seed of 1 : tensor<f32>
  %g = nn.fused "splat" %seed : tensor<f32> -> tensor<4x4xf32> {
  ^bb0(%a: tensor<f32>):
    %0 = nn.broadcast %a : tensor<f32> to tensor<4x4xf32>
    nn.yield %0 : tensor<4x4xf32>
  }
  train.grad_norm %g of [@w] : tensor<4x4xf32>
  train.update "adamw" @w, %g state {exp_avg = @m, exp_avg_sq = @v} decay : tensor<4x4xf32>
}
train.variable @m optimizer_state : tensor<4x4xf32> {of = @w}
train.variable @v optimizer_state : tensor<4x4xf32> {of = @w}

// CHECK: train.step @prepare_1 prepare
// CHECK: train.refresh @w.half_1 {{.*}}@w
}
