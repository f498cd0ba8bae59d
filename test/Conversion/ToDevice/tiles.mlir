// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device --verify-device | FileCheck %s
// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device --verify-device | gpuopt-translate --split-input-file --device-to-cxx | FileCheck %s --check-prefix=CODE
// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device=device=h200 | FileCheck %s --check-prefix=GPU

// On the host, a kernel whose operand lies along the rows reads tiles of 16 rows and 16 columns and turns them. A row of
// 196 elements fits 20 times into the 4096 that a block takes, so a block has one tile of rows: 4 x 32 blocks.

// CHECK-LABEL: device.kernel @fused_copy blocks 128 threads
// CHECK: device.loop lanes
// CHECK: device.loop sequential %{{.*}} to %{{.*}} multiple 16 unroll 16
// CODE-LABEL: void fused_copy(
// CODE: for (int64_t i = first_lane(); i < 196; i += lane_step()) {
// CODE: for (int64_t start = begin; start < end; start += 16) {
// CODE-NEXT: Lanes<float> x_i[16];
// CODE-NEXT: load_tile(x_i, x + b0 * 100352 + start + i * 512, 512, end - start, left);
// CODE-NEXT: UNROLL for (int64_t k = 0; k < 16; k++) {
// CODE-NEXT: const int64_t r = start + k;
// CODE-NEXT: store<4>(y + b0 * 100352 + r * 196 + i, x_i[k], left);
// A GPU's groups of threads read neighbouring rows anyway.
// GPU-LABEL: device.kernel @fused_copy
// GPU-NOT: unroll 16
train.step @forward_step forward ("x" %x: tensor<4x196x512xf32>) {
  %t = nn.transpose %x [0, 2, 1] : tensor<4x196x512xf32>
  %0 = nn.fused "copy" %t : tensor<4x512x196xf32> -> tensor<4x512x196xf32> {
  ^bb0(%a: tensor<4x512x196xf32>):
    nn.yield %a : tensor<4x512x196xf32>
  }
  train.output "y", %0 : tensor<4x512x196xf32>
}

// -----

// 20 rows are one tile and four rows of another one, each of which is a block. The operand that lies along the columns is read row by row.

// CHECK-LABEL: device.kernel @fused_add blocks 2 threads
// CODE-LABEL: void fused_add(
// CODE: load_tile(x0_i, x0 + start + i * 20, 20, end - start, left);
// CODE: const int64_t r = min(start + k, int64_t(end) - 1);
// CODE: x1_i[k] = load<8>(x1 + r * 40 + i, left);
// CODE: if (r >= end)
// CODE-NEXT: break;
// CODE-NEXT: store<8>(y + r * 40 + i, x0_i[k] + x1_i[k], left);
train.step @forward_step forward ("x" %x: tensor<40x20xf32>, "z" %z: tensor<20x40xf32>) {
  %t = nn.transpose %x [1, 0] : tensor<40x20xf32>
  %0 = nn.fused "add" %t, %z : tensor<20x40xf32>, tensor<20x40xf32> -> tensor<20x40xf32> {
  ^bb0(%a: tensor<20x40xf32>, %b: tensor<20x40xf32>):
    %1 = arith.addf %a, %b : tensor<20x40xf32>
    nn.yield %1 : tensor<20x40xf32>
  }
  train.output "y", %0 : tensor<20x40xf32>
}

// -----

// Fewer than 16 rows would leave most of a tile empty.

// CHECK-LABEL: device.kernel @fused_copy
// CHECK-NOT: unroll
// CODE-LABEL: void fused_copy(
// CODE: load_strided(
train.step @forward_step forward ("x" %x: tensor<196x3xf32>) {
  %t = nn.transpose %x [1, 0] : tensor<196x3xf32>
  %0 = nn.fused "copy" %t : tensor<3x196xf32> -> tensor<3x196xf32> {
  ^bb0(%a: tensor<3x196xf32>):
    nn.yield %a : tensor<3x196xf32>
  }
  train.output "y", %0 : tensor<3x196xf32>
}
