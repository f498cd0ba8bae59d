// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device | FileCheck %s

// Rows of a table that lies transposed in memory are columns: one element from
// row to row, 4 from element to element of a row.
// CHECK-LABEL: device.kernel @fused_take
// CHECK: %[[ROW:.*]] = device.load %{{.*}}[%{{.*}} : index] strides [1]
// CHECK: device.load %{{.*}}[%[[ROW]], %{{.*}} : i64, index] strides [1, 4] offset 0
train.step @transposed forward ("x" %x: tensor<3x4xf32>, "i" %i: tensor<2xi64>) {
  %table = nn.transpose %x [1, 0] : tensor<3x4xf32>
  %y = nn.take %table, %i : tensor<4x3xf32>, tensor<2xi64>
  train.output "y", %y : tensor<2x3xf32>
}

// A table that the same kernel reads element by element.
// CHECK-LABEL: device.kernel @fused_take_add
// CHECK: %[[TAKEN:.*]] = device.load %[[X:.*]][%{{.*}} : i64] strides [1] offset 0 indirect
// CHECK: %[[ELEMENT:.*]] = device.load %[[X]][%{{.*}} : index] strides [1] offset 0 contiguous
// CHECK: arith.addf %[[TAKEN]], %[[ELEMENT]]
train.step @own_table forward ("own" %x: tensor<4xf32>, "j" %i: tensor<4xi64>) {
  %taken = nn.take %x, %i : tensor<4xf32>, tensor<4xi64>
  %y = arith.addf %taken, %x : tensor<4xf32>
  train.output "y", %y : tensor<4xf32>
}

// All rows of a table that was broadcast are one, so that no index is read.
// CHECK-LABEL: device.kernel @fused_take_2
// CHECK: device.loop lanes
// CHECK-NOT: indirect
// CHECK: device.load %{{.*}}[] strides [] offset 0 uniform
train.step @broadcast_table forward ("x" %x: tensor<1xf32>, "j" %i: tensor<8xi64>) {
  %table = nn.broadcast %x : tensor<1xf32> to tensor<4xf32>
  %y = nn.take %table, %i : tensor<4xf32>, tensor<8xi64>
  train.output "y", %y : tensor<8xf32>
}
