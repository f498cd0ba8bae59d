// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device=device=host | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=HOST

// Sums of columns: groups of threads share the rows, load ahead of the sums, and
// are added up. On the host one thread adds the rows in order, to sums in memory.

// 64 columns of 2048 rows: two blocks of 8 x 4 columns and 32 groups. All of
// this is whole vectors, so nothing asks for what is left.
// CHECK: KERNEL LAUNCH_BOUNDS(256, 2) void fused_even(const float *RESTRICT x, float *RESTRICT
// CHECK: const int64_t begin = b * 32;
// CHECK: for (int64_t tile = begin; tile < end; tile += lane_step<8>()) {
// CHECK-NEXT: const int64_t i = tile + first_lane<8>();
// CHECK-NEXT: Lanes<float> sums(0.0f);
// CHECK-NEXT: for (int64_t start = group<8>(); start < 2048; start += 8 * groups<32>()) {
// CHECK-NEXT: Lanes<float> x_i[8];
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 8; k++) {
// CHECK-NEXT: const int64_t r = start + k * groups<32>();
// CHECK-NEXT: x_i[k] = load_vector(x + r * 64 + i);
// CHECK-NEXT: }
// CHECK-NEXT: UNROLL for (int64_t k = 0; k < 8; k++) {
// CHECK-NEXT: sums += x_i[k];
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: const auto sum = sum_of_groups<8, 32>(sums);
// CHECK-NEXT: if (group<8>() == 0)
// CHECK-NEXT: store_vector({{.*}} + i, sum);

// HOST: KERNEL LAUNCH_BOUNDS(32) void fused_even(
// HOST: for (int64_t i = first_lane(); i < 64; i += lane_step()) {
// HOST-NEXT: store_vector(sums + i, Lanes<float>(0.0f));
// HOST-NEXT: }
// HOST-NEXT: for (int64_t r = 0; r < 2048; r++) {
// HOST-NEXT: for (int64_t i = first_lane(); i < 64; i += lane_step()) {
// HOST-NEXT: store_vector(sums + i, load_vector(sums + i) + load_vector(x + r * 64 + i));
// HOST-NEXT: }
// HOST-NEXT: }
// HOST-NEXT: for (int64_t i = first_lane(); i < 64; i += lane_step()) {
// HOST-NEXT: store_vector({{.*}} + i, load_vector(sums + i));

// 197 rows are no multiple of the 16 groups times 8: each thread takes the rows behind its last whole batch one by
// one, so that no batch has to be tested. 40 columns are no multiple of 32, so some threads have none: vectors
// are whole where there are any, of up to 8 lanes.
// CHECK: void fused_odd(
// CHECK: const int64_t left = end - i;
// CHECK: int64_t start = group<[[WIDTH:[0-9]+]]>();
// CHECK-NEXT: for (; start + [[LAST:[0-9]+]] * groups<[[GROUPS:[0-9]+]]>() < 197; start += {{[0-9]+}} * groups<[[GROUPS]]>()) {
// CHECK: const int64_t r = start + k * groups<[[GROUPS]]>();
// CHECK-NEXT: x_i[k] = load<8>(x + r * 40 + i, left);
// CHECK-NEXT: }
// CHECK-NEXT: UNROLL
// CHECK-NEXT: maxima = max(maxima, x_i[k]);
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: for (int64_t r = start; r < 197; r += groups<[[GROUPS]]>()) {
// CHECK-NEXT: maxima = max(maxima, load<8>(x + r * 40 + i, left));
// CHECK-NEXT: }
// CHECK-NEXT: const auto maximum = max_of_groups<[[WIDTH]], [[GROUPS]]>(maxima);
// CHECK: store<8>({{.*}} + i, maximum, left);

// 10 columns lie at any place.
// CHECK: void fused_narrow(
// CHECK: x_i[k] = load(x + r * 10 + i, left);
// CHECK: min_of_groups<
// CHECK: prod_of_groups<

// What is the same in all columns is added up in lanes, too.
// CHECK: void fused_uniform(
// CHECK: Lanes<float> sums(0.0f);
// CHECK: sums += {{.*}};
// CHECK: sum_of_groups<{{.*}}>(sums);
train.step @micro_step micro ("x" %x: tensor<2048x64xf32>, "z" %z: tensor<197x40xf32>, "n" %n: tensor<64x10xf32>,
                              "u" %u: tensor<2048x1xf32>) {
  %0 = nn.fused "even" %x : tensor<2048x64xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<2048x64xf32>):
    %1 = nn.reduce sum %a [0] : tensor<2048x64xf32>
    nn.yield %1 : tensor<1x64xf32>
  }
  %2 = nn.fused "odd" %z : tensor<197x40xf32> -> tensor<1x40xf32> {
  ^bb0(%a: tensor<197x40xf32>):
    %1 = nn.reduce max %a [0] : tensor<197x40xf32>
    nn.yield %1 : tensor<1x40xf32>
  }
  %3, %4 = nn.fused "narrow" %n : tensor<64x10xf32> -> tensor<1x10xf32>, tensor<1x10xf32> {
  ^bb0(%a: tensor<64x10xf32>):
    %1 = nn.reduce min %a [0] : tensor<64x10xf32>
    %5 = nn.reduce prod %a [0] : tensor<64x10xf32>
    nn.yield %1, %5 : tensor<1x10xf32>, tensor<1x10xf32>
  }
  %6 = nn.fused "uniform" %u : tensor<2048x1xf32> -> tensor<1x64xf32> {
  ^bb0(%a: tensor<2048x1xf32>):
    %1 = nn.broadcast %a : tensor<2048x1xf32> to tensor<2048x64xf32>
    %5 = nn.reduce sum %1 [0] : tensor<2048x64xf32>
    nn.yield %5 : tensor<1x64xf32>
  }
  train.output "e", %6 : tensor<1x64xf32>
  train.output "a", %0 : tensor<1x64xf32>
  train.output "b", %2 : tensor<1x40xf32>
  train.output "c", %3 : tensor<1x10xf32>
  train.output "d", %4 : tensor<1x10xf32>
}
