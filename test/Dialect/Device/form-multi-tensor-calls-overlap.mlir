// RUN: gpuopt-opt %s -device-form-multi-tensor-calls | FileCheck %s

// The calls that are made as one run in any order. The second sum is written where the first
// one's parts were, which is right only if they run one after the other; the
// third one has bytes of its own.

// CHECK-LABEL: device.step @micro_step
// CHECK: {{^}}  device.sum_parts
// CHECK: device.multi_tensor {
// CHECK-COUNT-2: device.sum_parts
// CHECK: }
device.memory persistent 0 arena 8192
device.buffer @parts_a arena at 0 : tensor<4x8xf32> live 0 to 1 in @micro_step {origin = "d a"}
device.buffer @sum_a arena at 1024 : tensor<8xf32> live 0 to 3 in @micro_step {origin = "d a"}
device.buffer @parts_b arena at 2048 : tensor<4x8xf32> live 0 to 2 in @micro_step {origin = "d b"}
device.buffer @sum_b arena at 64 : tensor<8xf32> live 1 to 3 in @micro_step {origin = "d b"}
device.buffer @parts_c arena at 3072 : tensor<4x8xf32> live 0 to 3 in @micro_step {origin = "d c"}
device.buffer @sum_c arena at 4096 : tensor<8xf32> live 2 to 3 in @micro_step {origin = "d c"}
device.step @micro_step forward {
  %0 = device.address @parts_a : <f32>
  %1 = device.address @sum_a : <f32>
  device.sum_parts %0 to %1 count 4 columns 8 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @parts_b : <f32>
  %3 = device.address @sum_b : <f32>
  device.sum_parts %2 to %3 count 4 columns 8 : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @parts_c : <f32>
  %5 = device.address @sum_c : <f32>
  device.sum_parts %4 to %5 count 4 columns 8 : !device.ptr<f32>, !device.ptr<f32>
}
