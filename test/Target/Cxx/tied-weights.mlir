// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A gradient and a tensor whose name begins with "d" have different prefixes.
// CHECK: kD_X is the gradient of the loss with respect to kX.
// CHECK: constexpr Buffer<float> kDWeight{
// CHECK: constexpr Buffer<float> kD_Weight2{

// The first call of a step on a tied weight says which weights it is; one that
// has a single name needs no comment.
// CHECK: void micro_step(
// CHECK-NOT: is tied
// CHECK: // wte/embedding
// CHECK-NEXT: // kHeadWeight is tied: it is head.weight and wte.weight
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kHeadWeight], m[kD_Weight2]);
// CHECK-NEXT: // logits
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kHeadWeight], m[kD_Weight2]);
// CHECK-NEXT: launch(ctx, 1, 32, copy_, m[kDWeight], m[kD_Weight2]);
// CHECK: void evaluate(
// CHECK: // kHeadWeight is tied: it is head.weight and wte.weight

train.variable @head.weight parameter : tensor<32xf32> {savedAs = ["head.weight", "wte.weight"]}
train.variable @d.weight parameter : tensor<32xf32> {savedAs = ["d.weight"]}
device.memory persistent 2048 arena 128
device.buffer @head_weight state at 1536 : tensor<32xf32> {origin = "head.weight", variable = @head.weight}
device.buffer @d_weight state at 1792 : tensor<32xf32> {origin = "d.weight", variable = @d.weight}
device.buffer @d_weight_2 arena at 2048 : tensor<32xf32> live 0 to 9 in @micro_step {origin = "d weight"}
device.kernel @copy blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
}

device.step @micro_step micro {
  %0 = device.address @head_weight : !device.ptr<f32>
  %1 = device.address @d_weight_2 : !device.ptr<f32>
  device.launch @copy(%0, %1) {comment = "wte/embedding"} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @head_weight : !device.ptr<f32>
  %3 = device.address @d_weight_2 : !device.ptr<f32>
  device.launch @copy(%2, %3) {comment = "logits"} : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @d_weight : !device.ptr<f32>
  %5 = device.address @d_weight_2 : !device.ptr<f32>
  device.launch @copy(%4, %5) {comment = "logits"} : !device.ptr<f32>, !device.ptr<f32>
}
device.step @evaluate evaluate {
  %0 = device.address @head_weight : !device.ptr<f32>
  %1 = device.address @d_weight_2 : !device.ptr<f32>
  device.launch @copy(%0, %1) {comment = "wte/embedding"} : !device.ptr<f32>, !device.ptr<f32>
}
