// RUN: gpuopt-opt %s -device-sink-recomputed-calls | FileCheck %s

// Both recomputed calls move behind the work on @a, which has no bytes in common
// with theirs, to the call that reads what the second one writes.
// CHECK-LABEL: device.step @chain
// CHECK: device.launch @fill(%{{.*}}) blocks 1 :
// CHECK: device.launch @copy(%{{.*}}) blocks 2 {device.recomputed}
// CHECK: device.launch @copy(%{{.*}}) blocks 3 {device.recomputed}
// CHECK: device.launch @copy(%{{.*}}) blocks 4 :

// What is between writes what the call reads, so the call stays.
// CHECK-LABEL: device.step @overwritten
// CHECK: device.launch @copy(%{{.*}}) blocks 2 {device.recomputed}
// CHECK: device.launch @fill(%{{.*}}) blocks 1 :
// CHECK: device.launch @copy(%{{.*}}) blocks 4 :

// Nothing reads @x any more, so its lifetime ends here, although no call uses its
// bytes again.
// CHECK-LABEL: device.step @end_of_lifetime
// CHECK: device.launch @copy(%{{.*}}) blocks 2 {device.recomputed}
// CHECK: device.launch @fill(%{{.*}}) blocks 1 :
// CHECK: device.launch @fill(%{{.*}}) blocks 4 :

// @same shares its bytes with @y, which the call writes.
// CHECK-LABEL: device.step @same_bytes
// CHECK: device.launch @copy(%{{.*}}) blocks 2 {device.recomputed}
// CHECK: device.launch @fill(%{{.*}}) blocks 1 :
// CHECK: device.launch @copy(%{{.*}}) blocks 4 :

// A call without the attribute stays, as all do before a transfer.
// CHECK-LABEL: device.step @others
// CHECK: device.launch @copy(%{{.*}}) blocks 2 :
// CHECK: device.launch @fill(%{{.*}}) blocks 1 :
// CHECK: device.launch @copy(%{{.*}}) blocks 3 {device.recomputed}
// CHECK: device.await 0
// CHECK: device.launch @copy(%{{.*}}) blocks 4 :

// Calls on many tensors use what all of their calls do.
// CHECK-LABEL: device.step @sums
// CHECK-NEXT: device.multi_tensor
// CHECK: device.launch @copy(%{{.*}}) blocks 2 {device.recomputed}
// CHECK-NEXT: device.multi_tensor

device.memory persistent 1024 arena 2048
device.buffer @a arena at 1024 : tensor<32xf32> live 0 to 9 in @chain {origin = "a"}
device.buffer @x arena at 1280 : tensor<32xf32> live 0 to 9 in @chain {origin = "x"}
device.buffer @y arena at 1536 : tensor<32xf32> live 0 to 9 in @chain {origin = "y"}
device.buffer @z arena at 1792 : tensor<32xf32> live 0 to 9 in @chain {origin = "z"}
device.buffer @same arena at 1600 : tensor<32xf32> live 0 to 9 in @other {origin = "same"}
device.kernel @fill blocks 1 threads 32 ["x"] {
^bb0(%x: !device.ptr<f32>):
  %i = device.block_index
  %zero = arith.constant 0.0 : f32
  device.store %zero, %x[%i : index] strides [1] offset 0 uniform : f32, !device.ptr<f32>
}
device.kernel @copy blocks 1 threads 32 ["x", "y"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %i = device.block_index
  %value = device.load %x[%i : index] strides [1] offset 0 uniform : !device.ptr<f32> -> f32
  device.store %value, %y[%i : index] strides [1] offset 0 uniform : f32, !device.ptr<f32>
}

device.step @chain micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @y : !device.ptr<f32>
  %3 = device.address @z : !device.ptr<f32>
  device.launch @copy(%2, %3) blocks 3 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @a : !device.ptr<f32>
  device.launch @fill(%4) blocks 1 : !device.ptr<f32>
  %5 = device.address @z : !device.ptr<f32>
  %6 = device.address @a : !device.ptr<f32>
  device.launch @copy(%5, %6) blocks 4 : !device.ptr<f32>, !device.ptr<f32>
  %7 = device.address @y : !device.ptr<f32>
  %8 = device.address @x : !device.ptr<f32>
  device.launch @copy(%7, %8) blocks 5 : !device.ptr<f32>, !device.ptr<f32>
}

device.step @overwritten micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  device.launch @fill(%2) blocks 1 : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  %4 = device.address @z : !device.ptr<f32>
  device.launch @copy(%3, %4) blocks 4 : !device.ptr<f32>, !device.ptr<f32>
  %5 = device.address @x : !device.ptr<f32>
  %6 = device.address @y : !device.ptr<f32>
  device.launch @copy(%5, %6) blocks 5 : !device.ptr<f32>, !device.ptr<f32>
}

device.step @end_of_lifetime micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @a : !device.ptr<f32>
  device.launch @fill(%2) blocks 1 : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  device.launch @fill(%3) blocks 4 : !device.ptr<f32>
}

device.step @same_bytes micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @same : !device.ptr<f32>
  device.launch @fill(%2) blocks 1 : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  %4 = device.address @z : !device.ptr<f32>
  device.launch @copy(%3, %4) blocks 4 : !device.ptr<f32>, !device.ptr<f32>
  %5 = device.address @x : !device.ptr<f32>
  %6 = device.address @y : !device.ptr<f32>
  device.launch @copy(%5, %6) blocks 5 : !device.ptr<f32>, !device.ptr<f32>
}

device.step @others micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @a : !device.ptr<f32>
  device.launch @fill(%2) blocks 1 : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  %4 = device.address @z : !device.ptr<f32>
  device.launch @copy(%3, %4) blocks 3 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  device.await 0
  %5 = device.address @y : !device.ptr<f32>
  %6 = device.address @z : !device.ptr<f32>
  device.launch @copy(%5, %6) blocks 4 : !device.ptr<f32>, !device.ptr<f32>
  %7 = device.address @x : !device.ptr<f32>
  %8 = device.address @y : !device.ptr<f32>
  device.launch @copy(%7, %8) blocks 5 : !device.ptr<f32>, !device.ptr<f32>
}

device.step @sums micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @copy(%0, %1) blocks 2 {device.recomputed} : !device.ptr<f32>, !device.ptr<f32>
  device.multi_tensor {
    %2 = device.address @a : !device.ptr<f32>
    %3 = device.address @z : !device.ptr<f32>
    device.accumulate %2 into %3 count 8 : !device.ptr<f32>, !device.ptr<f32>
    %4 = device.address @a : !device.ptr<f32>
    %5 = device.address @z : !device.ptr<f32>
    device.accumulate %4 into %5 count 8 : !device.ptr<f32>, !device.ptr<f32>
  }
  device.multi_tensor {
    %6 = device.address @a : !device.ptr<f32>
    %7 = device.address @y : !device.ptr<f32>
    device.accumulate %6 into %7 count 8 : !device.ptr<f32>, !device.ptr<f32>
    %8 = device.address @a : !device.ptr<f32>
    %9 = device.address @x : !device.ptr<f32>
    device.accumulate %8 into %9 count 8 : !device.ptr<f32>, !device.ptr<f32>
  }
}
