// RUN: gpuopt-translate --device-to-cxx --device-to-cxx-lines-per-file=8 %s | FileCheck %s
// RUN: gpuopt-translate --device-to-cxx --device-to-cxx-lines-per-file=28 %s | FileCheck %s --check-prefix=TOGETHER

// Each kernel takes seven lines. Where a file has room for one, the two of the
// forward are two files, and each declaration stands in kernels.h. What
// launches a kernel first says which section it belongs to.

// CHECK: // kernels.h
// CHECK: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void relu(const float *RESTRICT x, float *RESTRICT y);
// CHECK-NEXT: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void twice(const float *RESTRICT x, float *RESTRICT y);
// CHECK-NEXT: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void negate(const float *RESTRICT x, float *RESTRICT y);

// CHECK: // kernels_backward.cu
// CHECK-NEXT: // Kernels of the backward: what one block of threads does.
// CHECK-NEXT: #include "kernels.h"
// CHECK: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void negate(const float *RESTRICT x, float *RESTRICT y) {
// CHECK-NOT: EXPORTED_KERNEL

// CHECK: // kernels_forward_1.cu
// CHECK: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void relu(const float *RESTRICT x, float *RESTRICT y) {
// CHECK-NOT: EXPORTED_KERNEL
// CHECK: // kernels_forward_2.cu
// CHECK: EXPORTED_KERNEL LAUNCH_BOUNDS(32) void twice(const float *RESTRICT x, float *RESTRICT y) {

// CHECK: // step.cu
// CHECK: #include "kernels.h"
// CHECK-NOT: KERNEL
// CHECK: launch(ctx, 1, 32, relu, m[kX], m[kY]);

// TOGETHER-NOT: kernels.h
// TOGETHER: // step.cu
// TOGETHER: KERNEL LAUNCH_BOUNDS(32) void relu(
// TOGETHER: KERNEL LAUNCH_BOUNDS(32) void twice(
// TOGETHER: KERNEL LAUNCH_BOUNDS(32) void negate(
// TOGETHER: launch(ctx, 1, 32, relu,
device.memory persistent 8192 arena 1024
device.buffer @x input at 2048 : tensor<64xf32> {origin = "x", externalName = "x"}
device.buffer @y output at 4096 : tensor<64xf32> {origin = "y", externalName = "y"}

device.kernel @relu blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r = arith.maximumf %v, %zero : f32
    device.store %r, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @twice blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r = arith.addf %v, %v : f32
    device.store %r, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @negate blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %r = arith.negf %v : f32
    device.store %r, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @relu(%0, %1) {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  device.launch @negate(%2, %3) {section = #device.section<backward>} : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @x : !device.ptr<f32>
  %5 = device.address @y : !device.ptr<f32>
  device.launch @twice(%4, %5) {section = #device.section<forward>} : !device.ptr<f32>, !device.ptr<f32>
}
