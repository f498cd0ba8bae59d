// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device | FileCheck %s --check-prefix=HOST
// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX

// The rows of a vocabulary are kept nowhere. The walk that finds the largest
// element sums the exponentials as well; the host has a walk for each.
// CHECK-LABEL: device.kernel @fused_max_sub_exp_sum blocks 4 threads 512 resident 2
// CHECK: %[[PAIR:.*]]:2 = device.loop lanes %{{.*}} [#device.combiner<max>, #device.combiner<sum_exp>] -> (f32, f32)
// CHECK-NOT: math.exp
// CHECK: device.yield %[[X:.*]], %[[X]] : f32, f32
// CHECK: device.loop lanes
// CHECK: arith.subf %{{.*}}, %[[PAIR]]#0
// CHECK: math.exp
// CHECK: arith.divf %{{.*}}, %[[PAIR]]#1
// CHECK-NOT: device.loop
// HOST-LABEL: device.kernel @fused_max_sub_exp_sum
// HOST: #device.combiner<max>]
// HOST: #device.combiner<sum>]
// HOST-LABEL: device.kernel
// CXX: LAUNCH_BOUNDS(512, 2) void fused_max_sub_exp_sum(
// Two vectors of a thread are loaded at once, and no test is made of the end of
// the row, while whole vectors are left. The rows are not aligned.
// CXX: ExpSum<float> exponentials;
// CXX-NEXT: for (int64_t start = first_lane(); start < whole_batches<2>(9001); start += 2 * lane_step()) {
// CXX-NEXT: Lanes<float> x_i[2];
// CXX-NEXT: UNROLL for (int64_t k = 0; k < 2; k++) {
// CXX-NEXT: const int64_t i = start + k * lane_step();
// CXX-NEXT: x_i[k] = load(x + b * 9001 + i, kLanes);
// CXX-NEXT: }
// CXX-NEXT: UNROLL for (int64_t k = 0; k < 2; k++) {
// CXX-NEXT: exponentials.add(x_i[k]);
// CXX-NEXT: }
// CXX-NEXT: }
// CXX-NEXT: for (int64_t i = whole_batches<2>(9001) + first_lane(); i < 9001; i += lane_step()) {
// CXX-NEXT: const int64_t left = 9001 - i;
// CXX-NEXT: const auto x_i_2 = load(x + b * 9001 + i, left);
// CXX-NEXT: exponentials.add(masked(x_i_2, left, -INFINITY));
// CXX-NEXT: }
// CXX-NEXT: const float maximum = block_max(exponentials);
// CXX-NEXT: const float sum = block_sum(exponentials, maximum);
// CXX-NEXT: for (

// The exponentials of other values than those whose maximum is subtracted, and
// of shorter rows, have a walk of their own.
// CHECK-LABEL: device.kernel @{{.*}} blocks 5
// CHECK-NOT: sum_exp
// CHECK-LABEL: device.kernel @{{.*}} blocks 6 threads 128
// CHECK-NOT: sum_exp
// CHECK-LABEL: device.step
train.step @softmax forward ("x" %x: tensor<4x9001xf32>, "y" %y: tensor<5x9001xf32>, "z" %z: tensor<6x1600xf32>) {
  %m = nn.reduce max %x [1] : tensor<4x9001xf32>
  %mb = nn.broadcast %m : tensor<4x1xf32> to tensor<4x9001xf32>
  %d = arith.subf %x, %mb : tensor<4x9001xf32>
  %e = math.exp %d : tensor<4x9001xf32>
  %t = nn.reduce sum %e [1] : tensor<4x9001xf32>
  %tb = nn.broadcast %t : tensor<4x1xf32> to tensor<4x9001xf32>
  %s = arith.divf %e, %tb : tensor<4x9001xf32>
  train.output "softmax", %s : tensor<4x9001xf32>
  %n = arith.negf %y : tensor<5x9001xf32>
  %m1 = nn.reduce max %n [1] : tensor<5x9001xf32>
  %mb1 = nn.broadcast %m1 : tensor<5x1xf32> to tensor<5x9001xf32>
  %d1 = arith.subf %y, %mb1 : tensor<5x9001xf32>
  %e1 = math.exp %d1 : tensor<5x9001xf32>
  %t1 = nn.reduce sum %e1 [1] : tensor<5x9001xf32>
  %m2 = nn.reduce max %z [1] : tensor<6x1600xf32>
  %mb2 = nn.broadcast %m2 : tensor<6x1xf32> to tensor<6x1600xf32>
  %d2 = arith.subf %z, %mb2 : tensor<6x1600xf32>
  %e2 = math.exp %d2 : tensor<6x1600xf32>
  %t2 = nn.reduce sum %e2 [1] : tensor<6x1600xf32>
  train.output "others", %t1 : tensor<5x1xf32>
  train.output "shorter", %t2 : tensor<6x1xf32>
}

// The element that a label picks is loaded alone, before the row is written; it
// is 0 where the label is no place of the row. The walk of the other reduction
// is the only one. Where there is no other reduction, no thread would wait.
// CHECK-LABEL: device.kernel @fused_{{.*}} blocks 7
// CHECK: %[[LABEL:.*]] = device.load %{{.*}} uniform {{.*}} -> i64
// CHECK: %[[LEAST:.*]] = arith.cmpi sge, %[[LABEL]], %c0_i64
// CHECK: %[[MOST:.*]] = arith.cmpi slt, %[[LABEL]], %c9001_i64
// CHECK: %[[IS_PLACE:.*]] = arith.andi %[[LEAST]], %[[MOST]]
// CHECK: %[[PLACE:.*]] = arith.select %[[IS_PLACE]], %[[LABEL]], %c0_i64
// CHECK: %[[ELEMENT:.*]] = device.load %{{.*}}[%{{.*}}, %[[PLACE]] : index, i64] strides [9001, 1] offset 0 uniform
// CHECK: arith.select %[[IS_PLACE]], %[[ELEMENT]], %cst
// CHECK: device.loop lanes %{{.*}} [#device.combiner<max>] -> (f32)
// CHECK-NOT: device.loop
// CHECK-LABEL: device.kernel @fused_{{.*}} blocks 8
// CHECK: device.loop lanes %{{.*}} [#device.combiner<sum>] -> (f32)
// HOST-LABEL: device.kernel @fused_{{.*}} blocks 7
// HOST: device.loop lanes %{{.*}} [#device.combiner<max>, #device.combiner<sum>] -> (f32, f32)
train.step @evaluate evaluate ("logits" %x: tensor<7x9001xf32>, "rows" %y: tensor<8x9001xf32>, "ids" %ids: tensor<7x1xi64>, "others" %others: tensor<8x1xi64>) {
  %zeros = arith.constant dense<0.0> : tensor<7x9001xf32>
  %i = nn.iota dim 1 : tensor<7x9001xi64>
  %labels = nn.broadcast %ids : tensor<7x1xi64> to tensor<7x9001xi64>
  %is_label = arith.cmpi eq, %i, %labels : tensor<7x9001xi64>
  %row = arith.select %is_label, %x, %zeros : tensor<7x9001xi1>, tensor<7x9001xf32>
  %picked = nn.reduce sum %row [1] : tensor<7x9001xf32>
  %m = nn.reduce max %x [1] : tensor<7x9001xf32>
  %d = arith.subf %m, %picked : tensor<7x1xf32>
  %zeros2 = arith.constant dense<0.0> : tensor<8x9001xf32>
  %i2 = nn.iota dim 1 : tensor<8x9001xi64>
  %labels2 = nn.broadcast %others : tensor<8x1xi64> to tensor<8x9001xi64>
  %is_label2 = arith.cmpi eq, %i2, %labels2 : tensor<8x9001xi64>
  %row2 = arith.select %is_label2, %y, %zeros2 : tensor<8x9001xi1>, tensor<8x9001xf32>
  %picked2 = nn.reduce sum %row2 [1] : tensor<8x9001xf32>
  train.output "margin", %d : tensor<7x1xf32>
  train.output "alone", %picked2 : tensor<8x1xf32>
}
