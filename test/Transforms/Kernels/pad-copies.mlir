// RUN: gpuopt-opt %s --kernels-pad-rows=device=h200 --split-input-file | FileCheck %s
// RUN: gpuopt-opt %s --kernels-pad-rows --split-input-file | FileCheck %s --check-prefix=HOST

// Products of the head's weight and of logits are faster where both have a
// pitch. Updates write copies as the parameter lies, so the step casts the
// parameter itself, and the copy goes with what has kept it.
// HOST-NOT: row_pitch
// CHECK: train.variable @head parameter : tensor<768x1009xf32>
// CHECK-NOT: half_copy
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[MASTER:.*]] = train.read @head : tensor<768x1009xf32>
// CHECK: %[[CAST:.*]] = nn.fused "cast" %[[MASTER]] {{.*}} : tensor<768x1009xf32> -> tensor<768x1009xf16, {row_pitch = 1024 : i64}> {
// CHECK: nn.contract "tk,kv->tv" %{{.*}}, %[[CAST]] row_pitch 1024 : tensor<4096x768xf16>, tensor<768x1009xf16, {row_pitch = 1024 : i64}>
// CHECK: nn.contract "tv,kv->tk" %{{.*}}, %[[CAST]]
// CHECK: train.update "sgd" @head, %{{[0-9]+}} : tensor<768x1009xf32>
// CHECK-NOT: train.step @prepare
train.variable @head parameter : tensor<768x1009xf32>
train.variable @head.half half_copy : tensor<768x1009xf16> {of = @head}
train.step @micro_step micro ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<768x1009xf16>
  %logits = nn.contract "tk,kv->tv" %x, %w : tensor<4096x768xf16>, tensor<768x1009xf16>
  %d = nn.fused "tanh" %logits : tensor<4096x1009xf16> -> tensor<4096x1009xf16> {
  ^bb0(%a: tensor<4096x1009xf16>):
    %0 = math.tanh %a : tensor<4096x1009xf16>
    nn.yield %0 : tensor<4096x1009xf16>
  }
  %dx = nn.contract "tv,kv->tk" %d, %w : tensor<4096x1009xf16>, tensor<768x1009xf16>
  train.output "dx", %dx : tensor<4096x768xf16>
  %dw = nn.contract "tk,tv->kv" %x, %d to f32 : tensor<4096x768xf16>, tensor<4096x1009xf16>
  train.update "sgd" @head, %dw copy @head.half : tensor<768x1009xf32>
}
train.step @prepare prepare () {
  train.refresh @head.half from @head
}

// -----

// The logits leave the step, so no product would be faster, and the copy stays.
// CHECK: train.variable @head.half half_copy : tensor<768x1009xf16> {of = @head}
// CHECK: train.read @head.half
// CHECK-NOT: row_pitch
// CHECK: train.step @prepare
// CHECK-NEXT: train.refresh @head.half from @head
train.variable @head parameter : tensor<768x1009xf32>
train.variable @head.half half_copy : tensor<768x1009xf16> {of = @head}
train.step @forward forward ("x" %x: tensor<4096x768xf16>) {
  %w = train.read @head.half : tensor<768x1009xf16>
  %logits = nn.contract "tk,kv->tv" %x, %w : tensor<4096x768xf16>, tensor<768x1009xf16>
  train.output "y", %logits : tensor<4096x1009xf16>
}
train.step @prepare prepare () {
  train.refresh @head.half from @head
}
