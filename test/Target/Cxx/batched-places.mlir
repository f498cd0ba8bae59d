// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// Four loads of a loop are on their way at once. Their place is a product that is computed inside the loop, so it cannot
// name what is declared before it, but another index can.
// CHECK: void fused_sum(const float *RESTRICT x0, float *{{.*}}y0, int64_t row_stride) {
// CHECK: Lanes<float> x0_at[4];
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 4; k++) {
// CHECK-NEXT: const int64_t r = start + k;
// CHECK-NEXT: x0_at[k] = load_vector(x0 + r * row_stride + i);
// CHECK: Lanes<float> y0_i[4];
// CHECK: y0_i[k] = load_vector(y0 + r * row_stride + i);
module {
  device.memory persistent 2048 arena 2048
  device.buffer @x  arena at 2048 : tensor<8x32xf32> live 0 to 1 in @forward {origin = "x"}
  device.buffer @y  arena at 3072 : tensor<8x32xf32> live 0 to 1 in @forward {origin = "y"}
  device.kernel @fused_sum blocks 1 threads 32 ["x0", "y0", "row_stride"] attributes {comment = "sum"} {
  ^bb0(%x0: !device.ptr<f32>, %y0: !device.ptr<f32>, %stride: index):
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    device.loop  lanes %c0 to %c32 multiple 32 [] {
    ^bb0(%i: index):
      %sum = device.loop  sequential %c0 to %c8 multiple 8 unroll 4 [#device.combiner<sum>] -> (f32) {
      ^bb0(%r: index):
        %place = arith.muli %r, %stride : index
        %0 = device.load %x0[%i, %place : index, index] strides [1, 1] offset 0  contiguous aligned 16 : <f32> -> f32
        device.yield %0 : f32
      }
      %all = device.loop  sequential %c0 to %c8 multiple 8 unroll 4 [#device.combiner<sum>] -> (f32) {
      ^bb0(%r: index):
        %place = arith.muli %r, %stride : index
        %0 = device.load %y0[%place, %i : index, index] strides [1, 1] offset 0  contiguous aligned 16 : <f32> -> f32
        device.yield %0 : f32
      }
      %both = arith.addf %sum, %all : f32
      device.store %both, %y0[%i : index] strides [1] offset 0  contiguous aligned 16 : f32, <f32>
      device.yield
    }
  }
  device.step @forward forward {
    %0 = device.address @x : <f32>
    %1 = device.address @y : <f32>
    device.launch @fused_sum(%0, %1) numbers [32 : index] {comment = "sum"} : !device.ptr<f32>, !device.ptr<f32>
  }
}
