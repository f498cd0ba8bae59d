// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// A division of numbers that are the same in all lanes traps no more than one
// of lanes: C++'s operator stands where the divisor is a constant that is
// neither 0 nor -1.
// CHECK: divide(x_0, x_1)
// CHECK: remainder(x_0, x_1)
// CHECK: convert<int64_t>(divide(convert<uint64_t>(x_0), convert<uint64_t>(x_1)))
// CHECK: convert<int64_t>(remainder(convert<uint64_t>(x_0), convert<uint64_t>(x_1)))
// CHECK: divide(int64_t(7), x_1)
// CHECK: divide(x_0, int64_t(-1))
// CHECK: x_0 / 3
// CHECK: x_0 % 3
// CHECK: x_i / x_1
device.memory persistent 9216 arena 0
device.buffer @x input at 1024 : tensor<64xi64> {origin = "x", externalName = "x"}
device.buffer @y output at 2048 : tensor<640xi64> {origin = "y", externalName = "y"}
device.kernel @divisions blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<i64>, %y: !device.ptr<i64>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 64 : index
  %three = arith.constant 3 : i64
  %seven = arith.constant 7 : i64
  %minus = arith.constant -1 : i64
  device.loop lanes %c0 to %n [] {
  ^bb0(%i: index):
    %a = device.load %x[%c0 : index] strides [1] offset 0 uniform : !device.ptr<i64> -> i64
    %b = device.load %x[%c1 : index] strides [1] offset 0 uniform : !device.ptr<i64> -> i64
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<i64> -> i64
    %r0 = arith.divsi %a, %b : i64
    device.store %r0, %y[%i : index] strides [1] offset 0 contiguous : i64, !device.ptr<i64>
    %r1 = arith.remsi %a, %b : i64
    device.store %r1, %y[%i : index] strides [1] offset 64 contiguous : i64, !device.ptr<i64>
    %r2 = arith.divui %a, %b : i64
    device.store %r2, %y[%i : index] strides [1] offset 128 contiguous : i64, !device.ptr<i64>
    %r3 = arith.remui %a, %b : i64
    device.store %r3, %y[%i : index] strides [1] offset 192 contiguous : i64, !device.ptr<i64>
    %r4 = arith.divsi %seven, %b : i64
    device.store %r4, %y[%i : index] strides [1] offset 256 contiguous : i64, !device.ptr<i64>
    %r5 = arith.divsi %a, %minus : i64
    device.store %r5, %y[%i : index] strides [1] offset 320 contiguous : i64, !device.ptr<i64>
    %r6 = arith.divsi %a, %three : i64
    device.store %r6, %y[%i : index] strides [1] offset 384 contiguous : i64, !device.ptr<i64>
    %r7 = arith.remsi %a, %three : i64
    device.store %r7, %y[%i : index] strides [1] offset 448 contiguous : i64, !device.ptr<i64>
    %r8 = arith.divsi %v, %b : i64
    device.store %r8, %y[%i : index] strides [1] offset 512 contiguous : i64, !device.ptr<i64>
    device.yield
  }
}
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<i64>
  %1 = device.address @y : !device.ptr<i64>
  device.launch @divisions(%0, %1) : !device.ptr<i64>, !device.ptr<i64>
}
