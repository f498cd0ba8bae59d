// RUN: gpuopt-opt %s --device-share-kernels | FileCheck %s

// What keeps kernels of one form apart.

// Eight numbers become arguments; with nine there are as many kernels as before.
// CHECK: device.kernel @eight blocks 1 threads 32 ["x", "y", "term", "term_2", {{.*}}, "term_8"]
// CHECK-NOT: @eight_2
// CHECK: device.kernel @nine blocks 1 threads 32 ["x", "y"]
// CHECK: device.kernel @nine_2 blocks 1 threads 32 ["x", "y"]
device.kernel @eight blocks 1 threads 32 ["x", "y"] attributes {comment = "8 numbers"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0_index = arith.constant 0 : index
  %c64_index = arith.constant 64 : index
  device.loop lanes %c0_index to %c64_index [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %c0 = arith.constant 1.5 : f32
    %a0 = arith.addf %v, %c0 : f32
    %c1 = arith.constant 2.5 : f32
    %a1 = arith.addf %a0, %c1 : f32
    %c2 = arith.constant 3.5 : f32
    %a2 = arith.addf %a1, %c2 : f32
    %c3 = arith.constant 4.5 : f32
    %a3 = arith.addf %a2, %c3 : f32
    %c4 = arith.constant 5.5 : f32
    %a4 = arith.addf %a3, %c4 : f32
    %c5 = arith.constant 6.5 : f32
    %a5 = arith.addf %a4, %c5 : f32
    %c6 = arith.constant 7.5 : f32
    %a6 = arith.addf %a5, %c6 : f32
    %c7 = arith.constant 8.5 : f32
    %a7 = arith.addf %a6, %c7 : f32
    device.store %a7, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @eight_2 blocks 1 threads 32 ["x", "y"] attributes {comment = "8 numbers"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0_index = arith.constant 0 : index
  %c64_index = arith.constant 64 : index
  device.loop lanes %c0_index to %c64_index [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %c0 = arith.constant 101.5 : f32
    %a0 = arith.addf %v, %c0 : f32
    %c1 = arith.constant 102.5 : f32
    %a1 = arith.addf %a0, %c1 : f32
    %c2 = arith.constant 103.5 : f32
    %a2 = arith.addf %a1, %c2 : f32
    %c3 = arith.constant 104.5 : f32
    %a3 = arith.addf %a2, %c3 : f32
    %c4 = arith.constant 105.5 : f32
    %a4 = arith.addf %a3, %c4 : f32
    %c5 = arith.constant 106.5 : f32
    %a5 = arith.addf %a4, %c5 : f32
    %c6 = arith.constant 107.5 : f32
    %a6 = arith.addf %a5, %c6 : f32
    %c7 = arith.constant 108.5 : f32
    %a7 = arith.addf %a6, %c7 : f32
    device.store %a7, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @nine blocks 1 threads 32 ["x", "y"] attributes {comment = "9 numbers"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0_index = arith.constant 0 : index
  %c64_index = arith.constant 64 : index
  device.loop lanes %c0_index to %c64_index [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %c0 = arith.constant 1.5 : f32
    %a0 = arith.addf %v, %c0 : f32
    %c1 = arith.constant 2.5 : f32
    %a1 = arith.addf %a0, %c1 : f32
    %c2 = arith.constant 3.5 : f32
    %a2 = arith.addf %a1, %c2 : f32
    %c3 = arith.constant 4.5 : f32
    %a3 = arith.addf %a2, %c3 : f32
    %c4 = arith.constant 5.5 : f32
    %a4 = arith.addf %a3, %c4 : f32
    %c5 = arith.constant 6.5 : f32
    %a5 = arith.addf %a4, %c5 : f32
    %c6 = arith.constant 7.5 : f32
    %a6 = arith.addf %a5, %c6 : f32
    %c7 = arith.constant 8.5 : f32
    %a7 = arith.addf %a6, %c7 : f32
    %c8 = arith.constant 9.5 : f32
    %a8 = arith.addf %a7, %c8 : f32
    device.store %a8, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @nine_2 blocks 1 threads 32 ["x", "y"] attributes {comment = "9 numbers"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0_index = arith.constant 0 : index
  %c64_index = arith.constant 64 : index
  device.loop lanes %c0_index to %c64_index [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %c0 = arith.constant 101.5 : f32
    %a0 = arith.addf %v, %c0 : f32
    %c1 = arith.constant 102.5 : f32
    %a1 = arith.addf %a0, %c1 : f32
    %c2 = arith.constant 103.5 : f32
    %a2 = arith.addf %a1, %c2 : f32
    %c3 = arith.constant 104.5 : f32
    %a3 = arith.addf %a2, %c3 : f32
    %c4 = arith.constant 105.5 : f32
    %a4 = arith.addf %a3, %c4 : f32
    %c5 = arith.constant 106.5 : f32
    %a5 = arith.addf %a4, %c5 : f32
    %c6 = arith.constant 107.5 : f32
    %a6 = arith.addf %a5, %c6 : f32
    %c7 = arith.constant 108.5 : f32
    %a7 = arith.addf %a6, %c7 : f32
    %c8 = arith.constant 109.5 : f32
    %a8 = arith.addf %a7, %c8 : f32
    device.store %a8, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// The trainer tells by the kernel which index was outside of its dimension, so
// kernels that check indices stay, though these two differ in nothing else.
// CHECK: device.kernel @checked blocks
// CHECK: device.kernel @checked_2 blocks
device.kernel @checked blocks 1 threads 32 ["indices", "y", "state"] attributes {comment = "checks"} {
^bb0(%x: !device.ptr<i64>, %y: !device.ptr<i64>, %s: !device.step_state):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %position = device.position [%i] strides [1] offset 0 contiguous
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %r = device.in_range "checked" %v at %position of 16 in %s
    device.store %r, %y[%i : index] strides [1] offset 0 contiguous : i64, !device.ptr<i64>
    device.yield
  }
}
device.kernel @checked_2 blocks 1 threads 32 ["indices", "y", "state"] attributes {comment = "checks"} {
^bb0(%x: !device.ptr<i64>, %y: !device.ptr<i64>, %s: !device.step_state):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %position = device.position [%i] strides [1] offset 0 contiguous
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %r = device.in_range "checked" %v at %position of 16 in %s
    device.store %r, %y[%i : index] strides [1] offset 0 contiguous : i64, !device.ptr<i64>
    device.yield
  }
}
