// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// Gradients are a table, with the elements of each and the number of spans
// before it: one for each 8192 elements, so that the second one begins behind
// two. In the other step, one begins inside of a buffer: its row has the offset
// in bytes. A single gradient has no table.

// CHECK: DEVICE_TABLE GradientRow<float, float> kNormTerms[] = {
// CHECK-NEXT: {kD_A, 8193, 0},
// CHECK-NEXT: {kD_B, 8, 2},
// CHECK-NEXT: {kD_B, 8, 3},
// CHECK-NEXT: };
// CHECK: DEVICE_TABLE GradientRow<float, float> kNormTerms_2[] = {
// CHECK-NEXT: {kD_B, 8, 0},
// CHECK-NEXT: {4128, 8, 1},
// CHECK-NEXT: };
// CHECK: static void micro_step(
// CHECK: sum_of_squares(ctx, m, kNormTerms, 4, m[kPartials]);
// CHECK-NEXT: finish_grad_norm(ctx, state, hyper, m[kPartials], 4);
// CHECK: sum_of_squares(ctx, m[kD_A], 8193, m[kPartials]);
// CHECK-NEXT: finish_grad_norm(ctx, state, hyper, m[kPartials], 2);
// CHECK: static void update(
// CHECK: sum_of_squares(ctx, m, kNormTerms_2, 2, m[kPartials]);
device.memory persistent 4096 arena 65536
device.buffer @d_a arena at 4096 : tensor<8193xf32> live 0 to 1 in @micro_step {origin = "d a"}
device.buffer @d_b arena at 37120 : tensor<8xf32> live 0 to 1 in @micro_step {origin = "d b"}
device.buffer @partials arena at 37376 : tensor<16xf64> live 0 to 1 in @micro_step {origin = "norm"}
device.step @micro_step micro {
  %p = device.address @partials : !device.ptr<f64>
  %a = device.address @d_a : !device.ptr<f32>
  %b = device.address @d_b : !device.ptr<f32>
  device.grad_norm %p over 1, %a, %b, %b counts [8193, 8, 8] of ["a", "b", "c"]
      : !device.ptr<f64>, !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  device.grad_norm %p over 1, %a counts [8193] of ["a"] : !device.ptr<f64>, !device.ptr<f32>
}
device.step @update update {
  %p = device.address @partials : !device.ptr<f64>
  %a = device.address @d_a + 8 : !device.ptr<f32>
  %b = device.address @d_b : !device.ptr<f32>
  device.grad_norm %p over 1, %b, %a counts [8, 8] of ["b", "a"]
      : !device.ptr<f64>, !device.ptr<f32>, !device.ptr<f32>
}
