// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | gpuopt-translate --device-to-cxx | FileCheck %s

// What the shapes say of a place is not asked for when the program runs.

// Rows of 48 elements that are 96 apart, the second half of each: all begin at
// multiples of 16 elements.
// CHECK: void fused_half(
// CHECK: store_vector({{.*}}, tanh(load_vector(x + {{.*}} * 96 + i)));

// From the 8th column on, 16 elements begin at multiples of 8.
// CHECK: void fused_eighth(
// CHECK: tanh(load<8>(x + {{.*}} * 96 + i, {{.*}}))

// From the 5th column on, there is no vector. What is written is whole.
// CHECK: void fused_fifth(
// CHECK: store_vector({{.*}}, tanh(load(x + {{.*}} * 96 + i, {{.*}})));

// Rows of 20 elements are whole vectors of 4 lanes, of booleans too. Of more
// lanes, the last ones of a row take no part in the sum.
// CHECK: void fused_twenty(
// CHECK: select(load_mask<4>({{.*}}, left), load<4>({{.*}}, left), 0.0f)
// CHECK: masked<4>({{.*}}, left, 0.0f)

// A result that is made where an operand lies: neither pointer is its own.
// CHECK: void fused_over(const float *computed, const float *RESTRICT x1,
// CHECK-NEXT: float *computed_2) {
train.step @micro_step micro ("x" %x: tensor<8x96xf32>, "y" %y: tensor<8x20xf32>, "m" %m: tensor<8x20xi1>, "w" %w: tensor<8x48xf32>) {
  %h = nn.slice %x [0, 48] [8, 48] [1, 1] : tensor<8x96xf32>
  %0 = nn.fused "half" %h : tensor<8x48xf32> -> tensor<8x48xf32> {
  ^bb0(%a: tensor<8x48xf32>):
    %1 = math.tanh %a : tensor<8x48xf32>
    nn.yield %1 : tensor<8x48xf32>
  } loc("/computed")
  %e = nn.slice %x [0, 8] [8, 16] [1, 1] : tensor<8x96xf32>
  %2 = nn.fused "eighth" %e : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = math.tanh %a : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  %f = nn.slice %x [0, 5] [8, 16] [1, 1] : tensor<8x96xf32>
  %3 = nn.fused "fifth" %f : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %1 = math.tanh %a : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  %4 = nn.fused "twenty" %y, %m : tensor<8x20xf32>, tensor<8x20xi1> -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x20xf32>, %b: tensor<8x20xi1>):
    %zero = arith.constant dense<0.0> : tensor<8x20xf32>
    %1 = arith.select %b, %a, %zero : tensor<8x20xi1>, tensor<8x20xf32>
    %5 = nn.reduce sum %1 [1] : tensor<8x20xf32>
    nn.yield %5 : tensor<8x1xf32>
  }
  %6 = nn.fused "over" %0, %w {in_place = array<i64: 0>} : tensor<8x48xf32>, tensor<8x48xf32> -> tensor<8x48xf32> {
  ^bb0(%a: tensor<8x48xf32>, %b: tensor<8x48xf32>):
    %1 = arith.mulf %a, %b : tensor<8x48xf32>
    nn.yield %1 : tensor<8x48xf32>
  }
  train.output "a", %2 : tensor<8x16xf32>
  train.output "b", %3 : tensor<8x16xf32>
  train.output "c", %4 : tensor<8x1xf32>
  train.output "d", %6 : tensor<8x48xf32>
}
