// RUN: gpuopt-opt %s -device-roll-loops -verify-device | FileCheck %s
// RUN: gpuopt-opt %s -o %t.straight
// RUN: gpuopt-opt %s -device-roll-loops -device-unroll-loops | diff %t.straight -

// The second and the third layer recompute different things from buffers of the
// same name, which share a column. The call that begins behind the end of @w_2
// is not made on it.
// CHECK: device.repeat "backward_layers" ["x", "y", "w"]
// CHECK-SAME: {{\[\[}}@x_0, @y_0, @w_1], [@x_1, @y_1, @w_1], [@x_2, @y_2, @w_2], [@x_3, @y_3, @w_1]] {
// CHECK: %[[FIRST:.*]] = device.column "w" + 48
// CHECK: device.launch @copy(%[[FIRST]], %{{.*}}) blocks 2
// CHECK-SAME: device.iterations = [{skips = "recomputes_y"}, {comment = "h.1.y again", makes = "recomputes_y"}, {skips = "recomputes_y"}, {skips = "recomputes_y"}]
// CHECK: %[[SECOND:.*]] = device.column "w" :
// CHECK: device.launch @copy(%[[SECOND]], %{{.*}}) blocks 6

device.memory persistent 1024 arena 2560
device.buffer @x_0 arena at 1024 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.x"}
device.buffer @x_1 arena at 1280 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.x"}
device.buffer @x_2 arena at 1536 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.x"}
device.buffer @x_3 arena at 1792 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3.x"}
device.buffer @y_0 arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.0.y"}
device.buffer @y_1 arena at 2304 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.1.y"}
device.buffer @y_2 arena at 2560 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.y"}
device.buffer @y_3 arena at 2816 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.3.y"}
device.buffer @w_1 arena at 3072 : tensor<64xf32> live 0 to 9 in @micro_step {origin = "h.1.w"}
device.buffer @w_2 arena at 3328 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "h.2.w"}
device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %row = device.block_index
}
device.kernel @copy blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

device.step @micro_step micro {
  %0 = device.address @x_0 : !device.ptr<f32>
  device.launch @fill(%0) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %1 = device.address @y_0 : !device.ptr<f32>
  %2 = device.address @x_0 : !device.ptr<f32>
  device.launch @copy(%1, %2) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %3 = device.address @x_0 : !device.ptr<f32>
  device.launch @fill(%3) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %4 = device.address @y_0 : !device.ptr<f32>
  device.launch @fill(%4) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %5 = device.address @x_1 : !device.ptr<f32>
  device.launch @fill(%5) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %6 = device.address @w_1 + 48 : !device.ptr<f32>
  %7 = device.address @y_1 : !device.ptr<f32>
  device.launch @copy(%6, %7) blocks 2 {comment = "h.1.y again", device.recomputed, section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %8 = device.address @y_1 : !device.ptr<f32>
  %9 = device.address @x_1 : !device.ptr<f32>
  device.launch @copy(%8, %9) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %10 = device.address @x_1 : !device.ptr<f32>
  device.launch @fill(%10) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %11 = device.address @y_1 : !device.ptr<f32>
  device.launch @fill(%11) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %12 = device.address @x_2 : !device.ptr<f32>
  device.launch @fill(%12) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %13 = device.address @w_2 : !device.ptr<f32>
  %14 = device.address @x_2 : !device.ptr<f32>
  device.launch @copy(%13, %14) blocks 6 {comment = "h.2.x again", device.recomputed, section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %15 = device.address @y_2 : !device.ptr<f32>
  %16 = device.address @x_2 : !device.ptr<f32>
  device.launch @copy(%15, %16) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %17 = device.address @x_2 : !device.ptr<f32>
  device.launch @fill(%17) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %18 = device.address @y_2 : !device.ptr<f32>
  device.launch @fill(%18) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
  %19 = device.address @x_3 : !device.ptr<f32>
  device.launch @fill(%19) blocks 1 {section = #device.section<backward>} : !device.ptr<f32>
  %20 = device.address @y_3 : !device.ptr<f32>
  %21 = device.address @x_3 : !device.ptr<f32>
  device.launch @copy(%20, %21) blocks 3 {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %22 = device.address @x_3 : !device.ptr<f32>
  device.launch @fill(%22) blocks 4 {section = #device.section<backward>} : !device.ptr<f32>
  %23 = device.address @y_3 : !device.ptr<f32>
  device.launch @fill(%23) blocks 5 {section = #device.section<backward>} : !device.ptr<f32>
}
