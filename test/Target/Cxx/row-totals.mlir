// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// Each of 64 blocks has 32 of the 2048 rows, and each of its 8 warps every
// eighth of these. A thread has sums for its columns of all the rows, which are
// added to as soon as the row has the summands, and before a result is written.
// When the rows are done, the warps are combined, in whose order the numbers are
// added, and the first one writes. The last columns end within an iteration, which all
// threads take.
// CHECK: // 64 blocks of 256 threads.
// CHECK-NEXT: KERNEL LAUNCH_BOUNDS(256, {{[0-9]+}}) void fused_sum_sub(const float *RESTRICT x,
// CHECK: const int64_t b = block();
// CHECK-NEXT: Lanes<float> totals[iterations<32>(200)];
// CHECK-NEXT: Lanes<float> totals_2[iterations<32>(200)];
// CHECK-NEXT: UNROLL for (int64_t t = 0; t < iterations<32>(200); t++) {
// CHECK-NEXT: const int64_t i = t * lane_step<32>() + first_lane<32>();
// CHECK-NEXT: totals[t] = Lanes<float>(0.0f);
// CHECK-NEXT: totals_2[t] = Lanes<float>(0.0f);
// CHECK-NEXT: }
// CHECK-NEXT: const int64_t begin = b * 32;
// CHECK-NEXT: const int64_t end = begin + 32;
// CHECK-NEXT: for (int64_t r = begin + group<32>(); r < end; r += groups<8>()) {
// CHECK: const auto x_i = load<8>(x + r * 200 + i, left);
// CHECK-NEXT: row[t] = x_i;
// CHECK-NEXT: totals[t] = totals[t] + x_i;
// CHECK-NEXT: sums += masked<8>(x_i, left, 0.0f);
// CHECK: const float sum = group_sum<32>(sums);
// CHECK: const auto difference = row[t] - sum;
// CHECK-NEXT: totals_2[t] = totals_2[t] + difference;
// CHECK-NEXT: store<8>(centred + r * 200 + i, difference, 200 - i);
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: UNROLL for (int64_t t = 0; t < iterations<32>(200); t++) {
// CHECK: const auto sum_2 = sum_of_groups<32, 8>(totals[t]);
// CHECK-NEXT: if (group<32>() == 0)
// CHECK-NEXT: store<8>(y1 + b * 200 + i, sum_2, left);
// CHECK-NEXT: const auto sum_3 = sum_of_groups<32, 8>(totals_2[t]);
// CHECK-NEXT: if (group<32>() == 0)
// CHECK-NEXT: store<8>(y2 + b * 200 + i, sum_3, left);
// Whole iterations need no test for the end of a row. Where the operand keeps its
// dimensions apart, rows are still counted through.
// CHECK: void fused_mul_sum(
// CHECK: for (int64_t r = begin + group<32>(); r < end; r += groups<8>()) {
// CHECK-NEXT: const int64_t r0 = r / 512, r1 = r % 512;
// CHECK: totals[t] = totals[t] +
// CHECK: const auto sum_2 = sum_of_groups<32, 8>(totals[t]);
// CHECK: store_vector({{.*}} + b * 128 + i, sum_2);
// Threads that may have all registers load what only the second walk over the row
// reads before the first one, whose sums the warp exchanges.
// CHECK: LAUNCH_BOUNDS(256, 1) void fused_sum_sub_add(const float *RESTRICT x0, const float *RESTRICT x1,
// CHECK: for (int64_t r = begin + group<32>(); r < end; r += groups<8>()) {
// CHECK: Lanes<float> x1_i_row[iterations<32>(768)];
// CHECK-NEXT: UNROLL for (int64_t t = 0; t < iterations<32>(768); t++) {
// CHECK-NEXT: const int64_t i = t * lane_step<32>() + first_lane<32>();
// CHECK-NEXT: x1_i_row[t] = load_vector(x1 + r * 768 + i);
// CHECK-NEXT: }
// CHECK: load_vector(x0 + r * 768 + i)
// CHECK: const float sum = group_sum<32>(sums);
// CHECK-NOT: load
// CHECK: x1_i_row[t] + (row[t] - sum)
train.step @norms forward ("x" %x: tensor<4x512x200xf32>, "y" %y: tensor<4x512x128xf32>, "p" %p: tensor<1x512x128xf32>, "w" %w: tensor<2048x768xf32>, "z" %z: tensor<2048x768xf32>) {
  %0:3 = nn.fused "sum_sub" %x : tensor<4x512x200xf32> -> tensor<4x512x200xf32>, tensor<64x1x200xf32>, tensor<64x1x200xf32> {
  ^bb0(%a: tensor<4x512x200xf32>):
    %1 = nn.reduce sum %a [2] : tensor<4x512x200xf32>
    %2 = nn.broadcast %1 : tensor<4x512x1xf32> to tensor<4x512x200xf32>
    %3 = arith.subf %a, %2 : tensor<4x512x200xf32>
    %4 = nn.partial_sum %a parts 64 : tensor<4x512x200xf32>
    %5 = nn.partial_sum %3 parts 64 : tensor<4x512x200xf32>
    nn.yield %3, %4, %5 : tensor<4x512x200xf32>, tensor<64x1x200xf32>, tensor<64x1x200xf32>
  }
  train.output "centred", %0#0 : tensor<4x512x200xf32>
  train.output "a", %0#1 : tensor<64x1x200xf32>
  train.output "b", %0#2 : tensor<64x1x200xf32>
  %sums:2 = nn.fused "mul_sum" %y, %p : tensor<4x512x128xf32>, tensor<1x512x128xf32> -> tensor<4x512x1xf32>, tensor<32x1x128xf32> {
  ^bb0(%a: tensor<4x512x128xf32>, %b: tensor<1x512x128xf32>):
    %1 = nn.broadcast %b : tensor<1x512x128xf32> to tensor<4x512x128xf32>
    %2 = arith.mulf %a, %1 : tensor<4x512x128xf32>
    %3 = nn.reduce sum %2 [2] : tensor<4x512x128xf32>
    %4 = nn.partial_sum %2 parts 32 : tensor<4x512x128xf32>
    nn.yield %3, %4 : tensor<4x512x1xf32>, tensor<32x1x128xf32>
  }
  train.output "rows", %sums#0 : tensor<4x512x1xf32>
  train.output "columns", %sums#1 : tensor<32x1x128xf32>
  %ln:4 = nn.fused "sum_sub_add" %w, %z : tensor<2048x768xf32>, tensor<2048x768xf32> -> tensor<2048x768xf32>, tensor<64x768xf32>, tensor<64x768xf32>, tensor<64x768xf32> {
  ^bb0(%a: tensor<2048x768xf32>, %b: tensor<2048x768xf32>):
    %1 = nn.reduce sum %a [1] : tensor<2048x768xf32>
    %2 = nn.broadcast %1 : tensor<2048x1xf32> to tensor<2048x768xf32>
    %3 = arith.subf %a, %2 : tensor<2048x768xf32>
    %4 = arith.addf %b, %3 : tensor<2048x768xf32>
    %5 = arith.mulf %a, %a : tensor<2048x768xf32>
    %6 = nn.partial_sum %a parts 64 : tensor<2048x768xf32>
    %7 = nn.partial_sum %5 parts 64 : tensor<2048x768xf32>
    %8 = nn.partial_sum %4 parts 64 : tensor<2048x768xf32>
    nn.yield %4, %6, %7, %8 : tensor<2048x768xf32>, tensor<64x768xf32>, tensor<64x768xf32>, tensor<64x768xf32>
  }
  train.output "residual", %ln#0 : tensor<2048x768xf32>
  train.output "c", %ln#1 : tensor<64x768xf32>
  train.output "d", %ln#2 : tensor<64x768xf32>
  train.output "e", %ln#3 : tensor<64x768xf32>
}
