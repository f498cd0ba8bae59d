// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// What the groups of a block hold is combined by the runtime, and stored by the
// first group alone.
// CHECK: KERNEL LAUNCH_BOUNDS(64) void largest(
// CHECK: Lanes<float> totals[iterations<32>(128)];
// CHECK: const auto maximum = max_of_groups<32, 2>(totals[t]);
// CHECK-NEXT: if (group<32>() == 0)
// CHECK-NEXT: store_vector(y + i, maximum);

device.memory persistent 1024 arena 1024
device.buffer @y arena at 0 : tensor<128xf32> live 0 to 9 in @micro_step {origin = "y"}

device.kernel @largest blocks 1 threads 64 groups 2 ["y"] {
^bb0(%y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %held = device.row 128 registers : !device.ptr<f32>
  device.loop lanes %c0 to %c128 multiple 16 [] {
  ^bb0(%i: index):
    %own = device.load %held[%i : index] strides [1] offset 0 contiguous aligned 16 : !device.ptr<f32> -> f32
    %all = device.combine_groups <max> %own : f32
    device.store %all, %y[%i : index] strides [1] offset 0 contiguous aligned 16 : f32, !device.ptr<f32>
    device.yield
  }
}

device.step @micro_step micro {
  %0 = device.address @y : !device.ptr<f32>
  device.launch @largest(%0) {section = #device.section<forward>} : !device.ptr<f32>
}
