// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A value that is used twice is called by what it is; where two of a kernel are
// the same, the second has a number. The mean is the sum of 64 elements divided
// by 64.
// CHECK: const float mean = sum * (1.0f / 64.0f);
// CHECK: const auto mask0 = x_i < y_i;
// CHECK: const auto exp_x = 
// CHECK: const auto added = 
// CHECK: const auto difference = 
// CHECK: const auto product = 
// CHECK: const auto square = 
// CHECK: const auto quotient = 
// CHECK: const auto negated = 
// CHECK: const auto larger = 
// CHECK: const auto smaller = 
// CHECK: const auto selected = 
// CHECK: const auto centred = 
// CHECK: const auto exp_x_2 = 
// A function is called by its name in the runtime.
// CHECK: const auto abs_x = abs(x_i);
// CHECK: const auto pow_x = pow(x_i, y_i);
device.memory persistent 9216 arena 0
device.buffer @x input at 1024 : tensor<64xf32> {origin = "x", externalName = "x"}
device.buffer @y output at 2048 : tensor<1792xf32> {origin = "y", externalName = "y"}
device.kernel @names blocks 1 threads 32 ["x", "y", "out"] {
^bb0(%xs: !device.ptr<f32>, %ys: !device.ptr<f32>, %out: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %share = arith.constant 0.015625 : f32
  %sum = device.loop lanes %c0 to %c64 [#device.combiner<sum>] -> (f32) {
  ^bb0(%i: index):
    %v = device.load %xs[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    device.yield %v : f32
  }
  %mean = arith.mulf %sum, %share : f32
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %x = device.load %xs[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %y = device.load %ys[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    %mask = arith.cmpf olt, %x, %y : f32
    %other = arith.select %mask, %mean, %x : f32
    device.store %other, %out[%i : index] strides [1] offset 1472 contiguous : f32, !device.ptr<f32>
    %r0 = math.exp %x : f32
    device.store %r0, %out[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.store %r0, %out[%i : index] strides [1] offset 64 contiguous : f32, !device.ptr<f32>
    %r1 = arith.addf %x, %y : f32
    device.store %r1, %out[%i : index] strides [1] offset 128 contiguous : f32, !device.ptr<f32>
    device.store %r1, %out[%i : index] strides [1] offset 192 contiguous : f32, !device.ptr<f32>
    %r2 = arith.subf %x, %y : f32
    device.store %r2, %out[%i : index] strides [1] offset 256 contiguous : f32, !device.ptr<f32>
    device.store %r2, %out[%i : index] strides [1] offset 320 contiguous : f32, !device.ptr<f32>
    %r3 = arith.mulf %x, %y : f32
    device.store %r3, %out[%i : index] strides [1] offset 384 contiguous : f32, !device.ptr<f32>
    device.store %r3, %out[%i : index] strides [1] offset 448 contiguous : f32, !device.ptr<f32>
    %r4 = arith.mulf %x, %x : f32
    device.store %r4, %out[%i : index] strides [1] offset 512 contiguous : f32, !device.ptr<f32>
    device.store %r4, %out[%i : index] strides [1] offset 576 contiguous : f32, !device.ptr<f32>
    %r5 = arith.divf %x, %y : f32
    device.store %r5, %out[%i : index] strides [1] offset 640 contiguous : f32, !device.ptr<f32>
    device.store %r5, %out[%i : index] strides [1] offset 704 contiguous : f32, !device.ptr<f32>
    %r6 = arith.negf %x : f32
    device.store %r6, %out[%i : index] strides [1] offset 768 contiguous : f32, !device.ptr<f32>
    device.store %r6, %out[%i : index] strides [1] offset 832 contiguous : f32, !device.ptr<f32>
    %r7 = arith.maximumf %x, %y : f32
    device.store %r7, %out[%i : index] strides [1] offset 896 contiguous : f32, !device.ptr<f32>
    device.store %r7, %out[%i : index] strides [1] offset 960 contiguous : f32, !device.ptr<f32>
    %r8 = arith.minimumf %x, %y : f32
    device.store %r8, %out[%i : index] strides [1] offset 1024 contiguous : f32, !device.ptr<f32>
    device.store %r8, %out[%i : index] strides [1] offset 1088 contiguous : f32, !device.ptr<f32>
    %r9 = arith.select %mask, %x, %y : f32
    device.store %r9, %out[%i : index] strides [1] offset 1152 contiguous : f32, !device.ptr<f32>
    device.store %r9, %out[%i : index] strides [1] offset 1216 contiguous : f32, !device.ptr<f32>
    %r10 = arith.subf %x, %mean : f32
    device.store %r10, %out[%i : index] strides [1] offset 1280 contiguous : f32, !device.ptr<f32>
    device.store %r10, %out[%i : index] strides [1] offset 1344 contiguous : f32, !device.ptr<f32>
    %r11 = math.exp %y : f32
    device.store %r11, %out[%i : index] strides [1] offset 1408 contiguous : f32, !device.ptr<f32>
    device.store %r11, %out[%i : index] strides [1] offset 1472 contiguous : f32, !device.ptr<f32>
    %r12 = math.absf %x : f32
    device.store %r12, %out[%i : index] strides [1] offset 1536 contiguous : f32, !device.ptr<f32>
    device.store %r12, %out[%i : index] strides [1] offset 1600 contiguous : f32, !device.ptr<f32>
    %r13 = math.powf %x, %y : f32
    device.store %r13, %out[%i : index] strides [1] offset 1664 contiguous : f32, !device.ptr<f32>
    device.store %r13, %out[%i : index] strides [1] offset 1728 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @names(%0, %0, %1) : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
}
