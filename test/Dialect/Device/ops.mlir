// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s

device.memory persistent 8192 arena 65536
device.buffer @x input at 256 : tensor<4x128xf32> {origin = "x", externalName = "x"}
device.buffer @y arena at 4096 : tensor<4x128xf32> live 3 to 18 in @micro_step {origin = "/fc1"}
device.kernel @fused_softmax blocks 4 threads 32 ["x", "y"] attributes {comment = "softmax"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %row = device.block_index
  %kept = device.row 128 : !device.ptr<f32>
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %sum = device.loop lanes %c0 to %c128 [#device.combiner<sum>] -> (f32) {
  ^bb0(%i: index):
    %v = device.load %x[%row, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
    %e = math.exp %v : f32
    device.yield %e : f32
  }
  device.loop lanes %c0 to %c128 [] {
  ^bb0(%i: index):
    %v = device.load %x[%row, %i : index, index] strides [128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
    %e = math.exp %v : f32
    %d = arith.divf %e, %sum : f32
    device.store %d, %y[%row, %i : index, index] strides [128, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y + 128 : !device.ptr<f32>
  device.launch @fused_softmax(%0, %1) {section = "forward", comment = "softmax of /fc1"} : !device.ptr<f32>, !device.ptr<f32>
}

// CHECK: device.memory persistent 8192 arena 65536
// CHECK: device.buffer @y arena at 4096 : tensor<4x128xf32> live 3 to 18 in @micro_step {origin = "/fc1"}
// CHECK-LABEL: device.kernel @fused_softmax blocks 4 threads 32 ["x", "y"]
// CHECK: device.row 128 : <f32>
// CHECK: device.loop lanes %{{.*}} to %{{.*}} [#device.combiner<sum>] -> (f32)
// CHECK: device.load %{{.*}}[%{{.*}}, %{{.*}} : index, index] strides [128, 1] offset 0 contiguous
// CHECK-LABEL: device.step @micro_step micro
// CHECK: device.address @y + 128 : <f32>
// CHECK: device.launch @fused_softmax
