// RUN: gpuopt-opt %s -device-form-multi-tensor-calls | gpuopt-translate --device-to-cxx | FileCheck %s

// Sums that follow one another are a table. A block takes 64 columns, so the
// second sum begins with block 2. What reads a sum ends the call: the sum of
// @b's parts is a part of the third one, which is made alone.

// CHECK: // What sum_parts works on: sum, parts, their number, columns, first block; each tensor by its offset in
// CHECK-NEXT: // bytes.
// CHECK-NEXT: DEVICE_TABLE SumPartsRow kSumsOfParts[] = {
// CHECK-NEXT: {8192, 4096, 8, 100, 0}, // "d a"
// CHECK-NEXT: {8704, 7296, 2, 4, 2}, // "d b"
// CHECK-NEXT: };
// CHECK: sum_parts(ctx, m, kSumsOfParts, 3);
// CHECK-NEXT: sum_parts(ctx, 1, 4, m[kD_B], m[kD_C]);
device.memory persistent 4096 arena 65536
device.buffer @parts_a arena at 4096 : tensor<8x100xf32> live 0 to 1 in @micro_step {origin = "parts a"}
device.buffer @parts_b arena at 7296 : tensor<2x4xf32> live 0 to 1 in @micro_step {origin = "parts b"}
device.buffer @d_a arena at 8192 : tensor<100xf32> live 0 to 1 in @micro_step {origin = "d a"}
device.buffer @d_b arena at 8704 : tensor<4xf32> live 0 to 2 in @micro_step {origin = "d b"}
device.buffer @d_c arena at 8960 : tensor<4xf32> live 0 to 2 in @micro_step {origin = "d c"}
device.step @micro_step micro {
  %0 = device.address @parts_a : !device.ptr<f32>
  %1 = device.address @d_a : !device.ptr<f32>
  device.sum_parts %0 to %1 count 8 columns 100 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @parts_b : !device.ptr<f32>
  %3 = device.address @d_b : !device.ptr<f32>
  device.sum_parts %2 to %3 count 2 columns 4 : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @d_b : !device.ptr<f32>
  %5 = device.address @d_c : !device.ptr<f32>
  device.sum_parts %4 to %5 count 1 columns 4 : !device.ptr<f32>, !device.ptr<f32>
}
