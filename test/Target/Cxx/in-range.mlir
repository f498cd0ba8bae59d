// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device | gpuopt-translate --device-to-cxx | FileCheck %s

// Computed indices are checked where they are computed, by the row of a table
// that names the node. What is written down of an input is checked as it is
// loaded: all numbers of `i` for the first table, of `k` from either end.

// CHECK: {{{.*}}"i", Type::I64, 1, {6},{{.*}}}, 4, false}
// CHECK: {{{.*}}"k", Type::I64, 1, {6},{{.*}}}, 8, false, INT64_MIN, -8}
// CHECK: static const IndexedInfo kIndexed[] = {
// CHECK-DAG: {"/computed", 8},
// CHECK-DAG: {"/elements", 8},
// CHECK: KERNEL LAUNCH_BOUNDS(256) void fused_addi_in_range(const int64_t *RESTRICT x, int64_t *RESTRICT computed,
// CHECK-NEXT: StepState *state_)
// CHECK: in_range(state_, [[NUMBER:0|1]], 8, load(x + i, left) + 1, iota<int64_t>(i), left)
// CHECK: p.indexed = kIndexed;
train.step @micro_step micro ("x" %x: tensor<8x4xf32>, "t" %t: tensor<4x4xf32>, "i" %i: tensor<6xi64>, "k" %k: tensor<6xi64>) {
  %one = arith.constant dense<1> : tensor<6xi64>
  %a = nn.take %t, %i : tensor<4x4xf32>, tensor<6xi64>
  %j = arith.addi %i, %one : tensor<6xi64>
  %r = nn.in_range %j of 8 : tensor<6xi64> loc("/computed")
  %b = nn.take %x, %r : tensor<8x4xf32>, tensor<6xi64>
  %s = nn.in_range %k of 8 : tensor<6xi64> loc("/elements")
  %c = nn.take %x, %s : tensor<8x4xf32>, tensor<6xi64>
  train.output "a", %a : tensor<6x4xf32>
  train.output "b", %b : tensor<6x4xf32>
  train.output "c", %c : tensor<6x4xf32>
}
