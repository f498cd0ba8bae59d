// RUN: gpuopt-opt %s -device-form-multi-tensor-calls | FileCheck %s

// The calls that are made as one run in any order, so a call that reads what one before it
// writes, or writes what one before it reads, begins a call of its own.

device.memory persistent 4096 arena 0
device.buffer @a state at 0 : tensor<8xf32> {origin = "a", variable = @a}
device.buffer @b state at 256 : tensor<8xf32> {origin = "b", variable = @b}
device.buffer @c state at 512 : tensor<8xf32> {origin = "c", variable = @c}
device.buffer @d state at 768 : tensor<8xf32> {origin = "d", variable = @d}

// CHECK-LABEL: device.step @reads
// CHECK-NOT: device.multi_tensor
device.step @reads micro {
  %0 = device.address @a : !device.ptr<f32>
  %1 = device.address @b : !device.ptr<f32>
  device.accumulate %0 into %1 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @b : !device.ptr<f32>
  %3 = device.address @c : !device.ptr<f32>
  device.accumulate %2 into %3 count 8 : !device.ptr<f32>, !device.ptr<f32>
}

// CHECK-LABEL: device.step @overwrites
// CHECK-NOT: device.multi_tensor
device.step @overwrites micro {
  %0 = device.address @a : !device.ptr<f32>
  %1 = device.address @b : !device.ptr<f32>
  device.accumulate %0 into %1 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @c : !device.ptr<f32>
  %3 = device.address @a : !device.ptr<f32>
  device.accumulate %2 into %3 count 8 : !device.ptr<f32>, !device.ptr<f32>
}

// Both may read the same.
// CHECK-LABEL: device.step @shares
// CHECK: device.multi_tensor
device.step @shares update {
  %0 = device.address @a : !device.ptr<f32>
  %1 = device.address @b : !device.ptr<f32>
  device.accumulate %0 into %1 count 8 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @a : !device.ptr<f32>
  %3 = device.address @d : !device.ptr<f32>
  device.accumulate %2 into %3 count 8 : !device.ptr<f32>, !device.ptr<f32>
}
