// RUN: gpuopt-opt %s --device-share-kernels=least-columns=64 | FileCheck %s
// RUN: gpuopt-opt %s --device-share-kernels --verify-device | FileCheck %s --check-prefix=LONG
// RUN: gpuopt-opt %s --device-share-kernels=least-columns=64 | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// Sums of 100 rows of 64 and of 300 rows of 128: the width is the bound of the
// inner loop and the stride of the rows, and so one argument; what the blocks
// are apart is another one.

// CHECK: device.kernel @sum blocks 4 threads 32 ["x", "sum", "columns", "rows", "factor", "block_stride"]
// CHECK-NEXT: ^bb0(%[[X:.*]]: !device.ptr<f32>, %[[Y:.*]]: !device.ptr<f32>, %[[COLUMNS:.*]]: index, %[[ROWS:.*]]: index, %[[FACTOR:.*]]: f32, %[[BLOCK:.*]]: index):
// CHECK: device.loop lanes %{{.*}} to %[[COLUMNS]]
// CHECK: device.loop sequential %{{.*}} to %[[ROWS]]
// CHECK: arith.muli %{{.*}}, %[[COLUMNS]] : index
// CHECK-NEXT: arith.muli %{{.*}}, %[[BLOCK]] : index
// CHECK: device.load %[[X]][{{.*}}] strides [1, 1, 1] offset 0 contiguous
// CHECK: arith.mulf %{{.*}}, %[[FACTOR]]
// CHECK-NOT: @sum_2

// CXX: // 4 to 8 blocks of 32 threads.
// CXX-NEXT: KERNEL LAUNCH_BOUNDS(32) void sum(const float *RESTRICT x, float *RESTRICT sum, int64_t columns, int64_t rows,
// CXX-NEXT: float factor, int64_t block_stride) {
// CXX-NEXT: const int64_t b = block();
// CXX-NEXT: for (int64_t i = first_lane(); i < columns; i += lane_step()) {
// CXX-NEXT: const int64_t left = columns - i;
// CXX-NEXT: Lanes<float> sums(0.0f);
// CXX-NEXT: for (int64_t r = 0; r < rows; r++) {
// CXX-NEXT: sums += load(x + b * block_stride + r * columns + i, left);
// CXX-NEXT: }
// CXX-NEXT: store(sum + b * columns + i, sums * factor, left);
// CXX: launch(ctx, 4, 32, sum, m[kX], m[kY], 64, 100, 0.01f, 6400);
// CXX-NEXT: launch(ctx, 8, 32, sum, m[kX], m[kY], 128, 300, 0.0033333334f, 38400);

// Rows below 256 elements are a part of the form unless the option says otherwise.
// LONG: device.kernel @sum blocks
// LONG: device.kernel @sum_2 blocks
device.memory persistent 8192 arena 1024
device.buffer @x input at 2048 : tensor<1024xf32> {origin = "x", externalName = "x"}
device.buffer @y output at 6144 : tensor<512xf32> {origin = "y", externalName = "y"}
device.kernel @sum blocks 4 threads 32 ["x", "sum"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %b = device.block_index
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c100 = arith.constant 100 : index
  %factor = arith.constant 0.01 : f32
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %sum = device.loop sequential %c0 to %c100 [#device.combiner<sum>] -> (f32) {
    ^bb0(%r: index):
      %v = device.load %x[%b, %r, %i : index, index, index] strides [6400, 64, 1] offset 0 contiguous : !device.ptr<f32> -> f32
      device.yield %v : f32
    }
    %mean = arith.mulf %sum, %factor : f32
    device.store %mean, %y[%b, %i : index, index] strides [64, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @sum_2 blocks 8 threads 32 ["x", "sum"] {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %b = device.block_index
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c300 = arith.constant 300 : index
  %factor = arith.constant 0.0033333334 : f32
  device.loop lanes %c0 to %c128 [] {
  ^bb0(%i: index):
    %sum = device.loop sequential %c0 to %c300 [#device.combiner<sum>] -> (f32) {
    ^bb0(%r: index):
      %v = device.load %x[%b, %r, %i : index, index, index] strides [38400, 128, 1] offset 0 contiguous : !device.ptr<f32> -> f32
      device.yield %v : f32
    }
    %mean = arith.mulf %sum, %factor : f32
    device.store %mean, %y[%b, %i : index, index] strides [128, 1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// An offset is an argument; no offset at all is another form, as is another
// stride from lane to lane. Names that differ say nothing of either kernel.

// CHECK: device.kernel @tail blocks 1 threads 32 ["x0", "y", "offset"]
// CHECK: device.load %{{.*}}[%{{.*}}, %{{.*}} : index, index] strides [1, 1] offset 0 contiguous
// CHECK: device.kernel @head blocks
// CHECK: device.kernel @strided blocks
// CHECK-NOT: device.kernel
device.kernel @tail blocks 1 threads 32 ["bias", "y"] attributes {comment = "part"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 64 contiguous : !device.ptr<f32> -> f32
    device.store %v, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @tail_2 blocks 1 threads 32 ["weight", "y"] attributes {comment = "part"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 128 contiguous : !device.ptr<f32> -> f32
    device.store %v, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @head blocks 1 threads 32 ["x", "y"] attributes {comment = "part"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [1] offset 0 contiguous : !device.ptr<f32> -> f32
    device.store %v, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}
device.kernel @strided blocks 1 threads 32 ["x", "y"] attributes {comment = "part"} {
^bb0(%x: !device.ptr<f32>, %y: !device.ptr<f32>):
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  device.loop lanes %c0 to %c64 [] {
  ^bb0(%i: index):
    %v = device.load %x[%i : index] strides [2] offset 64 strided : !device.ptr<f32> -> f32
    device.store %v, %y[%i : index] strides [1] offset 0 contiguous : f32, !device.ptr<f32>
    device.yield
  }
}

// CHECK: device.step @micro_step
// CHECK: device.launch @sum(%{{.*}}) numbers [64 : index, 100 : index, {{.*}} : f32, 6400 : index] blocks 4 threads 32
// CHECK: device.launch @sum(%{{.*}}) numbers [128 : index, 300 : index, {{.*}} : f32, 38400 : index] blocks 8 threads 32
// CHECK: device.launch @tail(%{{.*}}) numbers [64 : index] :
// CHECK: device.launch @tail(%{{.*}}) numbers [128 : index] :
device.step @micro_step micro {
  %0 = device.address @x : !device.ptr<f32>
  %1 = device.address @y : !device.ptr<f32>
  device.launch @sum(%0, %1) : !device.ptr<f32>, !device.ptr<f32>
  %2 = device.address @x : !device.ptr<f32>
  %3 = device.address @y : !device.ptr<f32>
  device.launch @sum_2(%2, %3) : !device.ptr<f32>, !device.ptr<f32>
  %4 = device.address @x : !device.ptr<f32>
  %5 = device.address @y : !device.ptr<f32>
  device.launch @tail(%4, %5) : !device.ptr<f32>, !device.ptr<f32>
  %6 = device.address @x : !device.ptr<f32>
  %7 = device.address @y : !device.ptr<f32>
  device.launch @tail_2(%6, %7) : !device.ptr<f32>, !device.ptr<f32>
}
