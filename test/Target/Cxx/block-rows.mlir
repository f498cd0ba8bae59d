// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-mark-fast-math -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// A row of up to 8192 elements is in the registers of its block: it is read
// once, and each exponential is computed once. A thread has up to 32 elements.
// CHECK: LAUNCH_BOUNDS(128, 6) void fused_max_sub_exp_sum(const float *RESTRICT x,
// CHECK: float *RESTRICT
// CHECK-NEXT: const int64_t b = block();
// CHECK-NEXT: Lanes<float> row[iterations<128>(2000)];
// CHECK-NEXT: Lanes<float> row_2[iterations<128>(2000)];
// CHECK-NEXT: Lanes<float> maxima(-INFINITY);
// CHECK-NEXT: UNROLL for (int64_t t = 0; t < iterations<128>(2000); t++) {
// CHECK-NEXT: const int64_t i = t * lane_step<128>() + first_lane<128>();
// CHECK-NEXT: const int64_t left = 2000 - i;
// CHECK-NEXT: const auto x_i = load<8>(x + b * 2000 + i, left);
// CHECK-NEXT: row[t] = x_i;
// CHECK-NEXT: maxima = max(maxima, masked<8>(x_i, left, -INFINITY));
// CHECK: const float maximum = block_max(maxima);
// CHECK: exp(row[t] - maximum);
// CHECK-NEXT: row_2[t] = exp_x;
// CHECK: const float sum = block_sum(sums);
// CHECK-NOT: load
// CHECK: store<8>({{.*}} + b * 2000 + i, fast_divide(row_2[t], sum), 2000 - i);

// What one walk needs alone is held nowhere: threads stride over the row.
// CHECK: LAUNCH_BOUNDS(256, 2) void fused_prod(
// CHECK-NOT: row
// CHECK: for (int64_t i = first_lane(); i < 8192; i += lane_step()) {
// CHECK-NEXT: products *= load_vector(
train.step @softmax forward ("x" %x: tensor<8x2000xf32>, "y" %y: tensor<8x8192xf32>) {
  %m = nn.reduce max %x [1] : tensor<8x2000xf32>
  %mb = nn.broadcast %m : tensor<8x1xf32> to tensor<8x2000xf32>
  %d = arith.subf %x, %mb : tensor<8x2000xf32>
  %e = math.exp %d : tensor<8x2000xf32>
  %t = nn.reduce sum %e [1] : tensor<8x2000xf32>
  %tb = nn.broadcast %t : tensor<8x1xf32> to tensor<8x2000xf32>
  %s = arith.divf %e, %tb : tensor<8x2000xf32>
  %p = nn.reduce prod %y [1] : tensor<8x8192xf32>
  train.output "softmax", %s : tensor<8x2000xf32>
  train.output "product", %p : tensor<8x1xf32>
}
