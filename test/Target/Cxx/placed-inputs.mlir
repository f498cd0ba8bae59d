// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// The program has a function of its own for the step that places inputs.
// CHECK: static void place_inputs(Context &ctx, char *memory)
// CHECK: static void forward(Context &ctx, char *memory)
// CHECK: p.place_inputs = place_inputs;
// CHECK: p.forward = forward;
device.memory persistent 8192 arena 0
device.buffer @past input at 2048 : tensor<8xf32> {origin = "past", externalName = "past", placedIn = @present}
device.buffer @first output at 2304 : tensor<8xf32> {origin = "first", externalName = "first"}
device.buffer @present output at 2560 : tensor<9xf32> {origin = "present", externalName = "present"}
device.step @place place_inputs {
  %0 = device.address @past : !device.ptr<f32>
  %1 = device.address @present : !device.ptr<f32>
  device.copy %0 to %1 count 8 : !device.ptr<f32>, !device.ptr<f32>
}
device.step @forward_step forward {
  %0 = device.address @present : !device.ptr<f32>
  %1 = device.address @first : !device.ptr<f32>
  device.copy %0 to %1 count 8 : !device.ptr<f32>, !device.ptr<f32>
}
