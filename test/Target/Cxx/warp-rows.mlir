// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-mark-fast-math -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// Rows that a warp holds in its registers: what more than one walk needs is read
// and computed once. 256 elements are whole iterations of 32 threads of 4 lanes.
// CHECK: LAUNCH_BOUNDS(64, {{[0-9]+}}) void fused_[[SOFTMAX:.*]](const float *RESTRICT x,
// CHECK: for (int64_t r = begin + group<32>(); r < end; r += groups<2>()) {
// CHECK-NEXT: Lanes<float> row[iterations<32>(256)];
// CHECK-NEXT: Lanes<float> row_2[iterations<32>(256)];
// CHECK-NEXT: Lanes<float> maxima(-INFINITY);
// CHECK-NEXT: UNROLL for (int64_t t = 0; t < iterations<32>(256); t++) {
// CHECK-NEXT: const int64_t i = t * lane_step<32>() + first_lane<32>();
// CHECK-NEXT: const auto x_i = load_vector(x + r * 256 + i);
// CHECK-NEXT: row[t] = x_i;
// CHECK: const float maximum = group_max<32>(maxima);
// CHECK: exp(row[t] - maximum);
// CHECK-NEXT: row_2[t] = exp_x;
// CHECK: const float sum = group_sum<32>(sums);
// CHECK-NOT: load
// CHECK: store_vector({{.*}} + r * 256 + i, fast_divide(row_2[t], sum));

// 70 elements end within an iteration: threads behind the end do not take part. What
// there is one of for a row is written by one thread of its warp.
// CHECK: void fused_prod(
// CHECK: const int64_t left = 70 - i;
// CHECK-NEXT: products *= masked(load(x + r * 70 + i, left), left, 1.0f);
// CHECK: const float product = group_prod<32>(products);
// CHECK-NEXT: if (first_lane<32>() == 0)
// CHECK: void fused_min(
// CHECK: masked<8>(load<8>(x + r * 64 + i, left), left, INFINITY)
// CHECK: group_min<32>(
train.step @softmax forward ("x" %x: tensor<1000x256xf32>, "y" %y: tensor<1000x70xf32>, "z" %z: tensor<1000x64xf32>) {
  %m = nn.reduce max %x [1] : tensor<1000x256xf32>
  %mb = nn.broadcast %m : tensor<1000x1xf32> to tensor<1000x256xf32>
  %d = arith.subf %x, %mb : tensor<1000x256xf32>
  %e = math.exp %d : tensor<1000x256xf32>
  %t = nn.reduce sum %e [1] : tensor<1000x256xf32>
  %tb = nn.broadcast %t : tensor<1000x1xf32> to tensor<1000x256xf32>
  %s = arith.divf %e, %tb : tensor<1000x256xf32>
  %p = nn.reduce prod %y [1] : tensor<1000x70xf32>
  %n = nn.reduce min %z [1] : tensor<1000x64xf32>
  train.output "softmax", %s : tensor<1000x256xf32>
  train.output "product", %p : tensor<1000x1xf32>
  train.output "smallest", %n : tensor<1000x1xf32>
}
