// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device --verify-device | FileCheck %s
// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device --verify-device | gpuopt-translate --split-input-file --device-to-cxx | FileCheck %s --check-prefix=CODE

// Sums of columns: a block has a warp of 32 threads, each of which has the
// columns of its lanes, 4 in f32. So 1000 columns are 8 blocks of 128. The host
// goes along the rows, with the sums of a block in its memory.

// CHECK-LABEL: device.kernel @fused_sum blocks 8 threads 32
// CHECK: arith.muli %{{.*}}, %c128 : index
// CODE-LABEL: void fused_sum(
// CODE: ROW_MEMORY float sums[128];
// CODE-NEXT: for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
// CODE-NEXT: store<8>(sums + i - begin, Lanes<float>(0.0f), end - i);
// CODE-NEXT: }
// CODE-NEXT: for (int64_t r = 0; r < 64; r++) {
// CODE-NEXT: for (int64_t i = begin + first_lane(); i < end; i += lane_step()) {
train.step @wide forward ("x" %x: tensor<64x1000xf32>) {
  %0 = nn.fused "sum" %x : tensor<64x1000xf32> -> tensor<1x1000xf32> {
  ^bb0(%a: tensor<64x1000xf32>):
    %1 = nn.reduce sum %a [0] : tensor<64x1000xf32>
    nn.yield %1 : tensor<1x1000xf32>
  }
  train.output "y", %0 : tensor<1x1000xf32>
}

// -----

// With tensors in half precision lanes are 8: 4 blocks of 256.

// CHECK-LABEL: device.kernel @fused_sum blocks 4 threads 32
// CHECK: arith.muli %{{.*}}, %c256 : index
train.step @wide forward ("x" %x: tensor<64x1000xf16>) {
  %0 = nn.fused "sum" %x : tensor<64x1000xf16> -> tensor<1x1000xf32> {
  ^bb0(%a: tensor<64x1000xf16>):
    %1 = arith.extf %a : tensor<64x1000xf16> to tensor<64x1000xf32>
    %2 = nn.reduce sum %1 [0] : tensor<64x1000xf32>
    nn.yield %2 : tensor<1x1000xf32>
  }
  train.output "y", %0 : tensor<1x1000xf32>
}

// -----

// What all rows need of a column is computed once, beside the sums.

// CODE-LABEL: void fused_variance(
// CODE: ROW_MEMORY float sums[128];
// CODE-NEXT: ROW_MEMORY float row[128];
// CODE: store_vector(sums + i, Lanes<float>(0.0f));
// CODE-NEXT: store_vector(row + i, rsqrt(load_vector(x1 + i)));
// CODE: for (int64_t r = 0; r < 64; r++) {
// CODE: const auto added = load_vector(sums + i) + load_vector(x0 + r * 64 + i) * load_vector(row + i);
// CODE-NEXT: store_vector(sums + i, added);
// CODE: store_vector(y + i, load_vector(sums + i));
train.step @scaled forward ("x" %x: tensor<64x64xf32>, "v" %v: tensor<64xf32>) {
  %0 = nn.fused "variance" %x, %v : tensor<64x64xf32>, tensor<64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64xf32>):
    %1 = math.rsqrt %b : tensor<64xf32>
    %2 = nn.broadcast %1 : tensor<64xf32> to tensor<64x64xf32>
    %3 = arith.mulf %a, %2 : tensor<64x64xf32>
    %4 = nn.reduce sum %3 [0] : tensor<64x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  train.output "y", %0 : tensor<1x64xf32>
}

// -----

// Rows that share an exponential with some of the others, but not with all, go
// down the columns, where it is computed once for all that share it. So do
// reductions that are no sums, and few rows.

// CODE-LABEL: void fused_gate(
// CODE-NOT: ROW_MEMORY
// CODE-LABEL: void fused_largest(
// CODE-NOT: ROW_MEMORY
// CODE-LABEL: void fused_few(
// CODE-NOT: ROW_MEMORY
train.step @others forward ("x" %x: tensor<4x32x64xf32>, "g" %g: tensor<4x1x64xf32>, "z" %z: tensor<4x64xf32>) {
  %0 = nn.fused "gate" %x, %g : tensor<4x32x64xf32>, tensor<4x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x32x64xf32>, %b: tensor<4x1x64xf32>):
    %1 = math.exp %b : tensor<4x1x64xf32>
    %2 = nn.broadcast %1 : tensor<4x1x64xf32> to tensor<4x32x64xf32>
    %3 = arith.mulf %a, %2 : tensor<4x32x64xf32>
    %4 = nn.reduce sum %3 [0, 1] : tensor<4x32x64xf32>
    nn.yield %4 : tensor<1x1x64xf32>
  }
  %5 = nn.fused "largest" %x : tensor<4x32x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%a: tensor<4x32x64xf32>):
    %1 = nn.reduce max %a [0, 1] : tensor<4x32x64xf32>
    nn.yield %1 : tensor<1x1x64xf32>
  }
  %6 = nn.fused "few" %z : tensor<4x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<4x64xf32>):
    %1 = nn.reduce sum %a [0] : tensor<4x64xf32>
    nn.yield %1 : tensor<1x64xf32>
  }
  train.output "a", %0 : tensor<1x1x64xf32>
  train.output "b", %5 : tensor<1x1x64xf32>
  train.output "c", %6 : tensor<1x64xf32>
}
