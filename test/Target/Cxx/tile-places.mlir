// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// Tiles whose places are products with parameters of the kernel: x0 lies along
// the rows, and so does x1, whose place y0 needs as well.
// CHECK: void fused_add(const float *RESTRICT x0, const float *RESTRICT x1,
// CHECK-NEXT: float *RESTRICT y0, int64_t block_stride, int64_t block_stride_2) {
// CHECK: for (int64_t start = 0; start < 16; start += 16) {
// CHECK-NEXT: Lanes<float> x0_i[16];
// CHECK-NEXT: load_tile(x0_i, x0 + b0 * block_stride + start + i * 16, 16, 16 - start, left);
// CHECK-NEXT: const int64_t [[PLACE:.*]] = b0 * block_stride_2;
// CHECK-NEXT: Lanes<float> x1_i[16];
// CHECK-NEXT: load_tile(x1_i, x1 + [[PLACE]] + start + i * 16, 16, 16 - start, left);
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 16; k++) {
// CHECK-NEXT: const int64_t r = start + k;
// CHECK-NEXT: const int64_t [[AGAIN:.*]] = b0 * block_stride_2;
// CHECK-NEXT: store_vector(y0 + [[AGAIN]] + r * 16 + i, x0_i[k] + x1_i[k]);
// CHECK-NEXT: }
module {
  device.memory persistent 2048 arena 12288
  device.buffer @x  arena at 2048 : tensor<4x16x16xf32> live 0 to 1 in @forward {origin = "x"}
  device.buffer @y  arena at 6144 : tensor<4x16x16xf32> live 0 to 1 in @forward {origin = "y"}
  device.buffer @z  arena at 10240 : tensor<4x16x16xf32> live 0 to 1 in @forward {origin = "z"}
  device.kernel @fused_add blocks 4 threads 32 ["x0", "x1", "y0", "block_stride", "block_stride_2"] attributes {comment = "add"} {
  ^bb0(%x0: !device.ptr<f32>, %x1: !device.ptr<f32>, %y0: !device.ptr<f32>, %s0: index, %s1: index):
    %b = device.block_index
    %b0:2 = device.delinearize %b by [4, 1] : index, index
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    device.loop  lanes %c0 to %c16 multiple 16 [] {
    ^bb0(%i: index):
      device.loop  sequential %c0 to %c16 multiple 16 unroll 16 [] {
      ^bb0(%r: index):
        %p0 = arith.muli %b0#0, %s0 : index
        %0 = device.load %x0[%p0, %r, %i : index, index, index] strides [1, 1, 16] offset 0  strided : <f32> -> f32
        %p1 = arith.muli %b0#0, %s1 : index
        %1 = device.load %x1[%p1, %r, %i : index, index, index] strides [1, 1, 16] offset 0  strided : <f32> -> f32
        %2 = arith.addf %0, %1 : f32
        device.store %2, %y0[%p1, %r, %i : index, index, index] strides [1, 16, 1] offset 0  contiguous aligned 16 : f32, <f32>
        device.yield
      }
      device.yield
    }
  }
  device.step @forward forward {
    %0 = device.address @x : <f32>
    %1 = device.address @y : <f32>
    %2 = device.address @z : <f32>
    device.launch @fused_add(%0, %1, %2) numbers [256 : index, 256 : index] {comment = "add"} : !device.ptr<f32>, !device.ptr<f32>, !device.ptr<f32>
  }
}
