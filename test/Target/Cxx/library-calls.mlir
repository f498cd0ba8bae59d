// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// Each op of a step is one call of the runtime; what an op of a kernel is in its
// source.
// CHECK: #include "gpuopt/runtime.h"
// CHECK-NEXT: #include "gpuopt/attention.h"
// CHECK-LABEL: KERNEL LAUNCH_BOUNDS(32) void k(float *RESTRICT x, const int64_t *RESTRICT ids, StepState *state_) {
// CHECK: const int64_t b0 = b / 8, b1 = b % 8;
// CHECK: random_uniform_from(state_->seed, 3, state_->draw, b0 * 32 + b1 * 4 + i);
// CHECK: in_range(state_, 0, 16, ids[b1], b1);
// CHECK: constexpr GemmShape kGemm4x8x4_nt = {.m = 4, .n = 8, .k = 4, .a_m = 4, .b_n = 4, .c_m = 8};
// CHECK-NEXT: constexpr ConvShape kConv2x2 = {.kh = 2, .kw = 2};
// CHECK-NEXT: constexpr PoolShape kPool2x2 = {.n = 1, .stride = {2, 2}};
// CHECK-NEXT: constexpr PoolShape kPool2x2_2 = {.n = 2};
// CHECK-LABEL: static void micro_step(
// CHECK: launch(ctx, 32, 32, k, m[kA], m[kIds], state);
// CHECK-NEXT: gemm(ctx, kGemm4x8x4_nt, m[kX], m[kWb], m[kA], {.beta = 1.0, .bias = m[kWb]});
// CHECK-NEXT: conv_forward<float>(ctx, kConv2x2, m[kX], m[kWb], /*bias=*/nullptr, m[kA]);
// CHECK-NEXT: max_pool_forward<float>(ctx, kPool2x2, m[kX], m[kA], m[kAm]);
// CHECK-NEXT: avg_pool_backward<float>(ctx, kPool2x2, m[kA], m[kX]);
// CHECK-NEXT: avg_pool_forward<float>(ctx, kPool2x2_2, m[kX], m[kA]);
// CHECK-NEXT: scatter_add_rows(ctx, m[kIds], 8, m[kA], 4, 8, m[kWb], /*beta=*/0);
// CHECK-NEXT: dropped_attention(ctx, state, m[kX], /*scale=*/0.5, m[kA]);
// CHECK-NEXT: copy(ctx, m[kA], m[kX], 256 * sizeof(float));
// CHECK-NEXT: check_finite(ctx, state, m[kA], 256, 0);
// CHECK-NEXT: check_finite_rows(ctx, state, m[kA], 16, 16, /*pitch=*/24, 1);
// CHECK-NEXT: add_loss(ctx, state, m[kA], m[kA], 1);
// The state is found where it is one of the options.
// CHECK-LABEL: static void evaluate(
// CHECK: StepState *const state = m[kStepState];
// CHECK-NEXT: draw(ctx, {.state = state});
// CHECK-LABEL: static void update(
// CHECK: accumulate(ctx, state, m[kVb], m[kMb], 32);
// CHECK-NEXT: sum_of_squares(ctx, m[kMb], 32, m[kP]);
// CHECK-NEXT: finish_grad_norm(ctx, state, hyper, m[kP], 1, m[kSb], 64);
// CHECK-NEXT: begin_adamw(ctx, state, hyper);
// CHECK-NEXT: begin_muon(ctx, state, hyper);
// CHECK-NEXT: adamw(ctx, state, m[kWb], m[kMb], m[kVb], m[kMb], 32, UpdateGroup{true, 3}, m[kHb]);
// CHECK-NEXT: muon_direction(ctx, state, m[kVb], m[kMb], m[kA], 32);
// CHECK-NEXT: muon(ctx, state, m[kWb], m[kA], {1, 4, 8}, /*decay=*/false, m[kHb]);
// CHECK-NEXT: snapshot(ctx, state, m[kMb], m[kWb], 32);
// CHECK-NEXT: restore(ctx, state, m[kWb], m[kMb], 32);
// CHECK-NEXT: refresh(ctx, m[kHb], m[kWb], 32);
// CHECK-NEXT: end_step(ctx, state);

train.variable @w parameter : tensor<4x8xf32>
train.variable @w16 half_copy : tensor<4x8xf16> {of = @w}
train.variable @m optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @v optimizer_state : tensor<4x8xf32> {of = @w}
train.variable @scale loss_scale : tensor<f32>
device.memory persistent 16384 arena 65536
device.buffer @wb state at 2048 : tensor<4x8xf32> {origin = "w", variable = @w}
device.buffer @hb state at 2304 : tensor<4x8xf16> {origin = "w16", variable = @w16}
device.buffer @mb state at 2560 : tensor<4x8xf32> {origin = "m", variable = @m}
device.buffer @vb state at 2816 : tensor<4x8xf32> {origin = "v", variable = @v}
device.buffer @sb state at 3072 : tensor<f32> {origin = "scale", variable = @scale}
device.buffer @x input at 4096 : tensor<1x8x8x4xf32> {origin = "x", externalName = "x"}
device.buffer @ids input at 8192 : tensor<8xi64> {origin = "ids", externalName = "ids"}
device.buffer @a arena at 16384 : tensor<1x8x8x4xf32> live 0 to 9 in @micro_step {origin = "a"}
device.buffer @p arena at 20480 : tensor<64xf64> live 0 to 9 in @micro_step {origin = "partials"}
device.buffer @am arena at 24576 : tensor<1x4x4x4xi32> live 0 to 9 in @micro_step {origin = "argmax"}
device.kernel @k blocks 32 threads 32 ["x", "ids", "state"] attributes {comment = "noise"} {
^bb0(%x: !device.ptr<f32>, %ids: !device.ptr<i64>, %state: !device.step_state):
  %b = device.block_index
  %i, %j = device.delinearize %b by [4, 8] : index, index
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  device.loop lanes %c0 to %c4 [] {
  ^bb0(%l: index):
    %n = device.position [%i, %j, %l] strides [32, 4, 1] offset 0 contiguous
    %r = device.random %state, %n stream 3 : f32
    %q = device.load %ids[%j : index] strides [1] offset 0 uniform : !device.ptr<i64> -> i64
    %at = device.position [%j] strides [1] offset 0 uniform
    %s = device.in_range "ids" %q at %at of 16 in %state
    device.store %r, %x[%i, %j, %l : index, index, index] strides [32, 4, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.step @micro_step micro {
  %x = device.address @x : !device.ptr<f32>
  %ids = device.address @ids : !device.ptr<i64>
  %a = device.address @a : !device.ptr<f32>
  %w = device.address @wb : !device.ptr<f32>
  %am = device.address @am : !device.ptr<i32>
  device.launch @k(%a, %ids) : !device.ptr<f32>, !device.ptr<i64>
  device.call "gemm"(GemmShape kGemm4x8x4_nt {m = 4, n = 8, k = 4, a_m = 4, b_n = 4, c_m = 8}, %x, %w, %a,
      {beta = 1.0, bias = %w}) : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  device.call "conv_forward"<f32>(ConvShape kConv2x2 {kh = 2, kw = 2}, %x, %w, bias = null, %a)
      : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  device.call "max_pool_forward"<f32>(PoolShape kPool2x2 {n = 1, stride = [2, 2]}, %x, %a, %am)
      : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<i32>
  device.call "avg_pool_backward"<f32>(PoolShape kPool2x2 {n = 1, stride = [2, 2]}, %a, %x) : !device.ptr<f32>, !device.ptr<f32>
  device.call "avg_pool_forward"<f32>(PoolShape kPool2x2 {n = 2}, %x, %a) : !device.ptr<f32>, !device.ptr<f32>
  device.call "scatter_add_rows"(%ids, 8, %a, 4, 8, %w, beta = 0) : !device.ptr<i64>, !device.ptr<f32>, !device.ptr<f32>
  device.call "dropped_attention"(state, %x, scale = 0.5, %a) from "gpuopt/attention.h" : !device.ptr<f32>, !device.ptr<f32>
  device.copy %x to %a count 256 : !device.ptr<f32>, !device.ptr<f32>
  device.check_finite %a count 256 index 0 name "a" : !device.ptr<f32>
  device.check_finite %a count 256 rows [16, 24] index 1 name "b" : !device.ptr<f32>
  device.report_loss %a, %a : !device.ptr<f32>, !device.ptr<f32>
}
device.step @evaluate evaluate {
  device.call "draw"({state = state})
}
device.step @update update {
  %w = device.address @wb : !device.ptr<f32>
  %h = device.address @hb : !device.ptr<f16>
  %m = device.address @mb : !device.ptr<f32>
  %v = device.address @vb : !device.ptr<f32>
  %s = device.address @sb : !device.ptr<f32>
  %p = device.address @p : !device.ptr<f64>
  %a = device.address @a : !device.ptr<f32>
  device.accumulate %m into %v count 32 : !device.ptr<f32>, !device.ptr<f32>
  device.grad_norm %p scale %s over 64, %m counts [32] of ["w"] : !device.ptr<f64> scale !device.ptr<f32>, !device.ptr<f32>
  device.update "adamw" %w, %m state ["exp_avg", "exp_avg_sq"](%m, %v) copy %h shape [4, 8] decay group 3
      : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>, !device.ptr<f32> copy !device.ptr<f16>
  device.direction "muon" %m to %a state ["momentum_buffer"](%v) count 32
      : !device.ptr<f32>, !device.ptr<f32> state !device.ptr<f32>
  device.update "muon" %w, %a copy %h shape [4, 8] : !device.ptr<f32>, !device.ptr<f32> copy !device.ptr<f16>
  device.snapshot %w in %m count 32 : !device.ptr<f32>, !device.ptr<f32>
  device.restore %w from %m count 32 : !device.ptr<f32>, !device.ptr<f32>
  device.refresh %h from %w count 32 : !device.ptr<f16>, !device.ptr<f32>
}
