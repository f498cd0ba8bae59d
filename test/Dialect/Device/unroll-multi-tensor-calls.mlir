// RUN: gpuopt-opt %s -device-unroll-loops | FileCheck %s
// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s --check-prefix=CXX

// The single calls stand where the multi-tensor call stood, in their order. A table may
// begin inside of a buffer: 4 elements of 8 bytes behind 1024.

// CHECK: device.await 0
// CHECK-NEXT: %[[A:.*]] = device.address @d_a + 4 : <f64>
// CHECK-NEXT: %[[S:.*]] = device.address @sum : <f64>
// CHECK-NEXT: device.accumulate %[[A]] into %[[S]] count 4
// CHECK-NEXT: device.address @d_b
// CHECK-NEXT: device.address @sum + 4
// CHECK-NEXT: device.accumulate
// CHECK-NEXT: device.await 1
// CHECK-NOT: device.multi_tensor

// CXX: DEVICE_TABLE CopyRow<double, double, double> kSums[] = {
// CXX-NEXT: {2048, 1056, 4, 0}, // "d a"
// CXX-NEXT: {2080, 1280, 4, 1}, // "d b"
// CXX-NEXT: };
// CXX: await(ctx, 0);
// CXX-NEXT: accumulate(ctx, state, m, kSums, 2);
// CXX-NEXT: await(ctx, 1);

device.memory persistent 4096 arena 4096
device.buffer @d_a arena at 1024 : tensor<8xf64> {origin = "d a"}
device.buffer @d_b arena at 1280 : tensor<8xf64> {origin = "d b"}
device.buffer @sum arena at 2048 : tensor<8xf64> {origin = "sum"}
device.step @micro_step micro {
  device.await 0
  device.multi_tensor {
    %0 = device.address @d_a + 4 : !device.ptr<f64>
    %1 = device.address @sum : !device.ptr<f64>
    device.accumulate %0 into %1 count 4 : !device.ptr<f64>, !device.ptr<f64>
    %2 = device.address @d_b : !device.ptr<f64>
    %3 = device.address @sum + 4 : !device.ptr<f64>
    device.accumulate %2 into %3 count 4 : !device.ptr<f64>, !device.ptr<f64>
  }
  device.await 1
}
