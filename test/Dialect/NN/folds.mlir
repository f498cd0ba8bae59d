// RUN: gpuopt-opt %s -canonicalize | FileCheck %s

// What changes nothing is its operand; two of a kind are one; small constants
// are computed.

// CHECK-LABEL: func.func @reshape
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @reshape(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x16xf32>, tensor<2x2xi64>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>
  // CHECK-DAG: %[[R:.*]] = nn.reshape %[[X]] : tensor<4x8xf32> to tensor<2x16xf32>
  // CHECK: return %[[X]], %[[R]], %[[C]]
  %flat = nn.reshape %x : tensor<4x8xf32> to tensor<32xf32>
  %0 = nn.reshape %flat : tensor<32xf32> to tensor<4x8xf32>
  %1 = nn.reshape %flat : tensor<32xf32> to tensor<2x16xf32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %2 = nn.reshape %c : tensor<4xi64> to tensor<2x2xi64>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<2x16xf32>, tensor<2x2xi64>
}

// CHECK-LABEL: func.func @transpose
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
func.func @transpose(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2xi64>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
  // CHECK-DAG: %[[T:.*]] = nn.transpose %[[X]] [2, 0, 1] : tensor<2x3x4xf32>
  // CHECK: return %[[X]], %[[T]], %[[C]]
  %t = nn.transpose %x [1, 2, 0] : tensor<2x3x4xf32>
  %0 = nn.transpose %t [2, 0, 1] : tensor<3x4x2xf32>
  %1 = nn.transpose %t [1, 2, 0] : tensor<3x4x2xf32>
  %c = arith.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %2 = nn.transpose %c [1, 0] : tensor<2x3xi64>
  return %0, %1, %2 : tensor<2x3x4xf32>, tensor<4x2x3xf32>, tensor<3x2xi64>
}

// CHECK-LABEL: func.func @broadcast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @broadcast(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2x3x4xf32>, tensor<2x2xi64>, tensor<8x8xf32>) {
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<8x8xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1, 1], [2, 2]]> : tensor<2x2xi64>
  // CHECK-DAG: %[[B:.*]] = nn.broadcast %[[X]] : tensor<4xf32> to tensor<2x3x4xf32>
  // CHECK: return %[[X]], %[[B]], %[[C]], %[[ONES]]
  %0 = nn.broadcast %x : tensor<4xf32> to tensor<4xf32>
  %rows = nn.broadcast %x : tensor<4xf32> to tensor<3x4xf32>
  %1 = nn.broadcast %rows : tensor<3x4xf32> to tensor<2x3x4xf32>
  %c = arith.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %2 = nn.broadcast %c : tensor<2x1xi64> to tensor<2x2xi64>
  %one = arith.constant dense<1.0> : tensor<f32>
  %3 = nn.broadcast %one : tensor<f32> to tensor<8x8xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<2x3x4xf32>, tensor<2x2xi64>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @slice(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2xi64>, tensor<2x2xf32>) {
  // CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1.000000e+00> : tensor<2x2xf32>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<[2, 4]> : tensor<2xi64>
  // CHECK: return %[[X]], %[[C]], %[[ONES]]
  %0 = nn.slice %x [0, 0] [4, 8] [1, 1] : tensor<4x8xf32>
  %c = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %1 = nn.slice %c [1] [2] [2] : tensor<4xi64>
  %ones = arith.constant dense<1.0> : tensor<4x8xf32>
  %2 = nn.slice %ones [0, 0] [2, 2] [1, 1] : tensor<4x8xf32>
  return %0, %1, %2 : tensor<4x8xf32>, tensor<2xi64>, tensor<2x2xf32>
}

// CHECK-LABEL: func.func @concat
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>)
func.func @concat(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<2x3xi64>) {
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<{{\[\[}}1, 5, 6], [2, 7, 8]]> : tensor<2x3xi64>
  // CHECK: return %[[X]], %[[C]]
  %0 = nn.concat %x dim 0 : tensor<4x8xf32>
  %a = arith.constant dense<[[1], [2]]> : tensor<2x1xi64>
  %b = arith.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi64>
  %1 = nn.concat %a, %b dim 1 : tensor<2x1xi64>, tensor<2x2xi64>
  return %0, %1 : tensor<4x8xf32>, tensor<2x3xi64>
}

// Dimensions of size 1 have nothing to be reduced, whatever the kind.
// CHECK-LABEL: func.func @reduce
// CHECK-SAME: (%[[X:.*]]: tensor<4x1xf32>)
func.func @reduce(%x: tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<1x1xf32>) {
  // CHECK-NEXT: %[[R:.*]] = nn.reduce max %[[X]] [0] : tensor<4x1xf32>
  // CHECK-NEXT: return %[[X]], %[[R]]
  %0 = nn.reduce prod %x [1] : tensor<4x1xf32>
  %1 = nn.reduce max %x [0] : tensor<4x1xf32>
  return %0, %1 : tensor<4x1xf32>, tensor<1x1xf32>
}

// What is reduced over no elements is what a reduction begins with.
// CHECK-LABEL: func.func @reduce_nothing
func.func @reduce_nothing(%x: tensor<4x0xf32>) -> (tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>) {
  // CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<4x1xf32>
  // CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<4x1xf32>
  // CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<0xFF800000> : tensor<4x1xf32>
  // CHECK-DAG: %[[MOST:.*]] = arith.constant dense<0x7F800000> : tensor<4x1xf32>
  // CHECK: return %[[ZERO]], %[[ONE]], %[[LEAST]], %[[MOST]]
  %0 = nn.reduce sum %x [1] : tensor<4x0xf32>
  %1 = nn.reduce prod %x [1] : tensor<4x0xf32>
  %2 = nn.reduce max %x [1] : tensor<4x0xf32>
  %3 = nn.reduce min %x [1] : tensor<4x0xf32>
  return %0, %1, %2, %3 : tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>, tensor<4x1xf32>
}
