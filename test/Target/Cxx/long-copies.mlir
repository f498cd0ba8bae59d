// RUN: gpuopt-translate --device-to-cxx %s | FileCheck %s

// No variable is declared for a value that nothing reads, of which nvcc warns:
// a copy of half precision has widened what it loads.
// CHECK-LABEL: void fused_copy(
// CHECK: x_i[k] = load_vector(x + b * 9008 + i);
// CHECK-NEXT: }
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 2; k++) {
// CHECK-NEXT: const int64_t i = start + k * lane_step();
// CHECK-NEXT: store_vector(y + b * 45040 + i, x_i[k]);
// CHECK-NEXT: }
module attributes {device.lanes = 8 : i64} {
  device.memory persistent 362496 arena 0
  device.buffer @x  input at 2048 : tensor<2x9008xf16> {externalName = "x", origin = "x"}
  device.buffer @c  output at 182272 : tensor<2x5x9008xf16> {externalName = "c", origin = "c"}
  device.kernel @fused_copy blocks 2 threads 256 resident 4 ["x", "y"] attributes {comment = "copy"} {
  ^bb0(%x: !device.ptr<f16>, %y: !device.ptr<f16>):
    %b = device.block_index
    %c0 = arith.constant 0 : index
    %c9008 = arith.constant 9008 : index
    device.loop  lanes %c0 to %c9008 multiple 16 [] {
    ^bb0(%i: index):
      %half = device.load %x[%b, %i : index, index] strides [9008, 1] offset 0  contiguous aligned 16 : <f16> -> f16
      %wide = arith.extf %half : f16 to f32
      device.store %half, %y[%b, %i : index, index] strides [45040, 1] offset 0  contiguous aligned 16 : f16, <f16>
      device.yield
    }
  }
  device.step @copy  forward {
    %x = device.address @x : <f16>
    %c = device.address @c : <f16>
    device.launch @fused_copy(%x, %c) {comment = "copy", section = #device.section<forward>} : !device.ptr<f16>, !device.ptr<f16>
  }
}
