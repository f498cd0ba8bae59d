// RUN: gpuopt-opt %s --train-plan-memory --convert-to-device | FileCheck %s

// What goes to the host and back goes with its pads: 8 rows of 16 halves. So it
// has room there, and is as it was.
// CHECK: device.buffer @{{.*}}on_host host at 0 : tensor<8x15xf16, {row_pitch = 16 : i64}>
// CHECK: device.offload %{{.*}} to %{{.*}} count 128
// CHECK: device.reload %{{.*}} to %{{.*}} count 128
train.step @with_pads micro ("x" %x: tensor<8x15xf16>) {
  %0 = nn.fused "tanh" %x : tensor<8x15xf16> -> tensor<8x15xf16, {row_pitch = 16}> {
  ^bb0(%a: tensor<8x15xf16>):
    %2 = math.tanh %a : tensor<8x15xf16>
    nn.yield %2 : tensor<8x15xf16>
  }
  %h = train.offload %0 : tensor<8x15xf16, {row_pitch = 16}>
  train.await_offload %h of %0 : tensor<8x15xf16, {row_pitch = 16}>
  %y = train.reload "why" %h : tensor<8x15xf16, {row_pitch = 16}>
  train.await_reload %y : tensor<8x15xf16, {row_pitch = 16}>
  %1 = nn.fused "exp" %y : tensor<8x15xf16, {row_pitch = 16}> -> tensor<8x15xf16> {
  ^bb0(%a: tensor<8x15xf16>):
    %2 = math.exp %a : tensor<8x15xf16>
    nn.yield %2 : tensor<8x15xf16>
  }
  train.output "z", %1 : tensor<8x15xf16>
}
