// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device -verify-device | FileCheck %s

// What a step does with variables is a call each, on their buffers.
train.variable @w parameter : tensor<4x8xf32>
train.variable @w16 half_copy : tensor<4x8xf16> {of = @w}
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @v optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @b parameter : tensor<8xf32>
train.variable @b.momentum optimizer_state : tensor<8xf32> {of = @b}
train.variable @w.gradient gradient : tensor<4x8xf32> {of = @w}
train.variable @mean buffer : tensor<8xf32>
train.variable @mean.kept kept : tensor<8xf32> {of = @mean}
train.variable @scale loss_scale : tensor<f32>

// CHECK-LABEL: device.step @micro_step micro
train.step @micro_step micro ("x" %x: tensor<4x8xf32>, "y" %y: tensor<8xf32>, "l" %l: tensor<1xf32>) {
  // CHECK: device.keep %{{.*}} in %{{.*}} count 8
  train.keep @mean in @mean.kept
  // CHECK: device.copy %{{.*}} to %{{.*}} count 8
  train.write @mean, %y : tensor<8xf32>
  // CHECK: device.report_loss
  train.report_loss %l, %l : tensor<1xf32>, tensor<1xf32>
  // CHECK: device.accumulate %{{.*}} into %{{.*}} count 32
  train.accumulate @w.gradient, %x : tensor<4x8xf32>
}

// CHECK-LABEL: device.step @update update
train.step @update update ("y" %y: tensor<8xf32>) {
  %g = train.read @w.gradient : tensor<4x8xf32>
  // CHECK: device.grad_norm %{{.*}} scale %{{.*}} over 64, %{{.*}}, %{{.*}} counts [32, 8] of ["w", "b"]
  train.grad_norm %g, %y scale @scale over 64 : tensor<4x8xf32>, tensor<8xf32>
  // CHECK: device.update "adamw" %{{.*}} state ["exp_avg", "exp_avg_sq"](%{{.*}}) copy %{{.*}} shape [4, 8] decay
  train.update "adamw" @w, %g state {exp_avg = @m, exp_avg_sq = @v} copy @w16 decay : tensor<4x8xf32>
  // CHECK: device.update "sgd" %{{.*}} state ["momentum_buffer"](%{{.*}}) shape [8] {{.*}} : <f32>
  train.update "sgd" @b, %y state {momentum_buffer = @b.momentum} : tensor<8xf32>
  // CHECK: device.restore %{{.*}} from %{{.*}} count 8
  train.restore @mean from @mean.kept
}

// CHECK-LABEL: device.step @prepare prepare
train.step @prepare prepare () {
  // CHECK: device.refresh %{{.*}} from %{{.*}} count 32
  train.refresh @w16 from @w
}
