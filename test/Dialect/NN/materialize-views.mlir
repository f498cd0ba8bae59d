// RUN: gpuopt-opt %s -nn-materialize-views | FileCheck %s

// Products read their operands by strides.
// CHECK-LABEL: train.step @strided_product
// CHECK-NOT: nn.fused
train.step @strided_product forward ("x" %x: tensor<4x8x48xf32>) {
  %q = nn.slice %x [0, 0, 0] [4, 8, 16] [1, 1, 1] : tensor<4x8x48xf32>
  %k = nn.slice %x [0, 0, 16] [4, 8, 16] [1, 1, 1] : tensor<4x8x48xf32>
  %0 = nn.contract "bqd,bkd->bqk" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  train.output "y", %0 : tensor<4x8x8xf32>
}

// A library call wants dense tensors.
// CHECK-LABEL: train.step @strided_output
// CHECK: %[[S:.*]] = nn.slice
// CHECK: %[[C:.*]] = nn.fused "copy" %[[S]]
// CHECK: train.output "y", %[[C]]
train.step @strided_output forward ("x" %x: tensor<4x48xf32>) {
  %q = nn.slice %x [0, 0] [4, 16] [1, 1] : tensor<4x48xf32>
  train.output "y", %q : tensor<4x16xf32>
}

// A reshape that no strides express.
// CHECK-LABEL: train.step @reshape
// CHECK: %[[T:.*]] = nn.transpose
// CHECK: %[[C:.*]] = nn.fused "copy" %[[T]]
// CHECK: nn.reshape %[[C]]
train.step @reshape forward ("x" %x: tensor<4x8xf32>) {
  %t = nn.transpose %x [1, 0] : tensor<4x8xf32>
  %r = nn.reshape %t : tensor<8x4xf32> to tensor<32xf32>
  train.output "y", %r : tensor<32xf32>
}
