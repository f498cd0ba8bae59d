// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A gradient that takes the place of a tensor of the forward is told, since the
// buffer keeps its name. What is computed in place and is no gradient, and a
// gradient in the place of another one, need no comment.
// CHECK: kD_X is the gradient of the loss with respect to kX. A buffer is named after the first
// CHECK: void micro_step(
// CHECK: // relu
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kLogits], m[kLogits]);
// CHECK-NEXT: // loss, d loss
// CHECK-NEXT: // from here on, kLogits has a gradient in place of logits
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kLogits], m[kLogits]);
// CHECK-NEXT: // d relu
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kD_Fc], m[kD_Fc]);
// CHECK-NEXT: // d fc
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kLogits], m[kD_Fc]);

device.memory persistent 2048 arena 256
device.buffer @logits arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "logits"}
device.buffer @d_fc arena at 2176 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "d fc"}
device.kernel @copy blocks 1 threads 32 ["x", "y"] aliased [0, 1] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %0 = device.load %x[] strides [] offset 0 uniform : !device.ptr<f32> -> f32
  device.store %0, %y[] strides [] offset 0 uniform : f32, !device.ptr<f32>
}

device.step @micro_step micro {
  %0 = device.address @logits : !device.ptr<f32>
  %1 = device.address @d_fc : !device.ptr<f32>
  device.launch @copy(%0, %0) {comment = "relu"} : !device.ptr<f32>, !device.ptr<f32>
  device.launch @copy(%0, %0) {comment = "loss, d loss"} : !device.ptr<f32>, !device.ptr<f32>
  device.launch @copy(%1, %1) {comment = "d relu"} : !device.ptr<f32>, !device.ptr<f32>
  device.launch @copy(%0, %1) {comment = "d fc"} : !device.ptr<f32>, !device.ptr<f32>
}
