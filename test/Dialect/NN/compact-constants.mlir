// RUN: gpuopt-opt %s -nn-compact-constants | FileCheck %s

// A mask that was folded for each sample of the batch: one of booleans, from
// which each reader selects, not one for all of them, which would be stored.
// CHECK-LABEL: train.step @mask
// CHECK-SAME: %[[X:.*]]: tensor<2x8x8x8xf32>, "y" %[[Y:.*]]: tensor<2x1x8x8xf32>
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<{{\[\[\[\[}}true, false, false, false, false, false, false, false], [true, true, false, {{.*}}> : tensor<1x1x8x8xi1>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<0.000000e+00> : tensor<2x8x8x8xf32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant dense<0xFF800000> : tensor<2x8x8x8xf32>
// CHECK-DAG: %[[WIDE:.*]] = nn.broadcast %[[MASK]] : tensor<1x1x8x8xi1> to tensor<2x8x8x8xi1>
// CHECK-DAG: %[[NUMBERS:.*]] = arith.select %[[WIDE]], %[[ZEROS]], %[[LOW]]
// CHECK-DAG: %[[OWN:.*]] = nn.broadcast %[[MASK]] : tensor<1x1x8x8xi1> to tensor<2x1x8x8xi1>
// CHECK-DAG: %[[OWNNUMBERS:.*]] = arith.select %[[OWN]]
// CHECK: arith.addf %[[X]], %[[NUMBERS]]
// CHECK: arith.mulf %[[X]], %[[NUMBERS]]
// CHECK: arith.addf %[[Y]], %[[OWNNUMBERS]]
train.step @mask forward ("x" %x: tensor<2x8x8x8xf32>, "y" %y: tensor<2x1x8x8xf32>) {
  %mask = arith.constant dense<[[[[0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]], [[[0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0xFF800000], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]]]> : tensor<2x1x8x8xf32>
  %wide = nn.broadcast %mask : tensor<2x1x8x8xf32> to tensor<2x8x8x8xf32>
  %0 = arith.addf %x, %wide : tensor<2x8x8x8xf32>
  %other = nn.broadcast %mask : tensor<2x1x8x8xf32> to tensor<2x8x8x8xf32>
  %1 = arith.mulf %x, %other : tensor<2x8x8x8xf32>
  %2 = arith.addf %y, %mask : tensor<2x1x8x8xf32>
  train.output "a", %0 : tensor<2x8x8x8xf32>
  train.output "b", %1 : tensor<2x8x8x8xf32>
  train.output "c", %2 : tensor<2x1x8x8xf32>
}

// More than two numbers, and integers, lose what they repeat.
// CHECK-LABEL: train.step @repeated
// CHECK-DAG: %[[ROW:.*]] = arith.constant dense<{{\[\[}}0.000000e+00, 1.000000e+00, {{.*}}7.000000e+00]]> : tensor<1x8xf32>
// CHECK-DAG: %[[ROWS:.*]] = nn.broadcast %[[ROW]] : tensor<1x8xf32> to tensor<9x8xf32>
// CHECK-DAG: %[[COLUMN:.*]] = arith.constant dense<{{\[\[}}0], [1], {{.*}}, [7]]> : tensor<8x1xi64>
// CHECK-DAG: %[[COLUMNS:.*]] = nn.broadcast %[[COLUMN]] : tensor<8x1xi64> to tensor<8x9xi64>
// CHECK-DAG: arith.addf %{{.*}}, %[[ROWS]]
// CHECK-DAG: arith.cmpi eq, %{{.*}}, %[[COLUMNS]]
train.step @repeated forward ("x" %x: tensor<9x8xf32>, "i" %i: tensor<8x9xi64>) {
  %rows = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]> : tensor<9x8xf32>
  %0 = arith.addf %x, %rows : tensor<9x8xf32>
  %columns = arith.constant dense<[[0, 0, 0, 0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1, 1, 1, 1], [2, 2, 2, 2, 2, 2, 2, 2, 2], [3, 3, 3, 3, 3, 3, 3, 3, 3], [4, 4, 4, 4, 4, 4, 4, 4, 4], [5, 5, 5, 5, 5, 5, 5, 5, 5], [6, 6, 6, 6, 6, 6, 6, 6, 6], [7, 7, 7, 7, 7, 7, 7, 7, 7]]> : tensor<8x9xi64>
  %1 = arith.cmpi eq, %i, %columns : tensor<8x9xi64>
  train.output "a", %0 : tensor<9x8xf32>
  train.output "b", %1 : tensor<8x9xi1>
}

// What is read from memory stays, and what is small.
// CHECK-LABEL: train.step @kept
// CHECK: %[[TABLE:.*]] = arith.constant dense<{{.*}}> : tensor<9x8xf32>
// CHECK: nn.take %[[TABLE]]
// CHECK: %[[SMALL:.*]] = arith.constant dense<{{.*}}> : tensor<8x8xf32>
// CHECK: arith.addf %{{.*}}, %[[SMALL]]
train.step @kept forward ("i" %i: tensor<4xi64>, "x" %x: tensor<8x8xf32>) {
  %table = arith.constant dense<[[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]]> : tensor<9x8xf32>
  %0 = nn.take %table, %i : tensor<9x8xf32>, tensor<4xi64>
  %small = arith.constant dense<[[0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<8x8xf32>
  %1 = arith.addf %x, %small : tensor<8x8xf32>
  train.output "a", %0 : tensor<4x8xf32>
  train.output "b", %1 : tensor<8x8xf32>
}
