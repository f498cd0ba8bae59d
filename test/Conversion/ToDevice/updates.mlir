// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device -verify-device | FileCheck %s

// What a step does with variables is a call each, on their buffers.
train.variable @w parameter : tensor<4x8xf32>
train.variable @w16 half_copy : tensor<4x8xf16> {of = @w}
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @v optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @b parameter : tensor<8xf32>
train.variable @b.m optimizer_state : tensor<8xf32> {of = @b}
train.variable @b.v optimizer_state : tensor<8xf32> {of = @b}
train.variable @w.momentum optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @w.gradient gradient : tensor<4x8xf32> {of = @w}
train.variable @mean buffer : tensor<8xf32>
train.variable @mean.snapshot snapshot : tensor<8xf32> {of = @mean}
train.variable @scale loss_scale : tensor<f32>

// CHECK-LABEL: device.step @micro_step micro
train.step @micro_step micro ("x" %x: tensor<4x8xf32>, "y" %y: tensor<8xf32>, "l" %l: tensor<1xf32>) {
  // CHECK: device.snapshot %{{.*}} in %{{.*}} count 8
  train.snapshot @mean in @mean.snapshot
  // CHECK: device.refresh %{{.*}} from %{{.*}} count 8
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
  train.grad_norm %g, %y of [@w, @b] scale @scale over 64 : tensor<4x8xf32>, tensor<8xf32>
  // CHECK: device.update "adamw" %{{.*}} state ["exp_avg", "exp_avg_sq"](%{{.*}}) copy %{{.*}} shape [4, 8] decay
  train.update "adamw" @w, %g state {exp_avg = @m, exp_avg_sq = @v} copy @w16 decay : tensor<4x8xf32>
  // CHECK: device.update "adamw" %{{.*}} state ["exp_avg", "exp_avg_sq"](%{{.*}}) shape [8] {{.*}} : <f32>
  train.update "adamw" @b, %y state {exp_avg = @b.m, exp_avg_sq = @b.v} : tensor<8xf32>
  // CHECK: device.restore %{{.*}} from %{{.*}} count 8
  train.restore @mean from @mean.snapshot
}

// CHECK-LABEL: device.step @forward forward
train.step @forward forward ("g" %g: tensor<4x8xf16>) {
  // CHECK: device.direction "muon" %{{.*}} to %{{.*}} state ["momentum_buffer"](%{{.*}}) count 32 {comment = "direction", {{.*}}} : <f16>, <f32> state !device.ptr<f32>
  %d = train.direction "muon" of @w, %g state {momentum_buffer = @w.momentum} : tensor<4x8xf16> -> tensor<4x8xf32>
  // CHECK: device.update "muon" %{{.*}}, %{{.*}} copy %{{.*}} shape [4, 8] decay
  train.update "muon" @w, %d copy @w16 decay : tensor<4x8xf32>
}

// CHECK-LABEL: device.step @prepare prepare
train.step @prepare prepare () {
  // CHECK: device.refresh %{{.*}} from %{{.*}} count 32
  train.refresh @w16 from @w
}
