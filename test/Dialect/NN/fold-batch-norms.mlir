// RUN: gpuopt-opt %s -nn-fold-batch-norms | FileCheck %s
// RUN: gpuopt-opt %s -nn-fold-batch-norms="ratio=1" | FileCheck %s --check-prefix=EQUAL

// The bias of zeros that exporters write goes as well.
// CHECK-LABEL: func.func @folded
// CHECK-NOT: nn.conv %
// CHECK: %[[Y:.*]], %[[MEAN:.*]], %[[VARIANCE:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} = nn.conv_batch_norm %arg0, %arg1, %arg2, %arg2, %arg2, %arg2 epsilon 1.000000e-05 momentum 1.000000e-01 :
// CHECK-NOT: arith.addf
// CHECK: return %[[Y]], %[[MEAN]], %[[VARIANCE]]
func.func @folded(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>) -> (tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<2x4x4x16xf32>
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>
  %1 = arith.addf %0, %zeros : tensor<2x4x4x16xf32>
  %2:5 = nn.batch_norm %1, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %2#0, %2#1, %2#2 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>
}

// As many channels as before would be read as often as they are saved.
// CHECK-LABEL: func.func @as_many_channels
// CHECK: nn.batch_norm
// EQUAL-LABEL: func.func @as_many_channels
// EQUAL: nn.conv_batch_norm
func.func @as_many_channels(%x: tensor<2x4x4x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>) -> tensor<2x4x4x8xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<8x8x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %1#0 : tensor<2x4x4x8xf32>
}

// CHECK-LABEL: func.func @strides
// CHECK: nn.batch_norm
func.func @strides(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>) -> tensor<2x2x2x16xf32> {
  %0 = nn.conv %x, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x2x2x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x2x2x16xf32>
}

// CHECK-LABEL: func.func @pads
// CHECK: nn.batch_norm
func.func @pads(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>) -> tensor<2x6x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [1, 0, 1, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x6x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x6x4x16xf32>
}

// CHECK-LABEL: func.func @windows
// CHECK: nn.batch_norm
func.func @windows(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x2x1xf32>, %c: tensor<16xf32>) -> tensor<2x3x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x2x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x3x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x3x4x16xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK: nn.batch_norm
func.func @groups(%x: tensor<2x4x4x8xf32>, %w: tensor<16x4x1x1xf32>, %c: tensor<16xf32>) -> tensor<2x4x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 2 : tensor<2x4x4x8xf32>, tensor<16x4x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x4x4x16xf32>
}

// Vectors of products have eight channels.
// CHECK-LABEL: func.func @odd_channels
// CHECK: nn.batch_norm
func.func @odd_channels(%x: tensor<2x4x4x4xf32>, %w: tensor<16x4x1x1xf32>, %c: tensor<16xf32>) -> tensor<2x4x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x4xf32>, tensor<16x4x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x4x4x16xf32>
}

// Something else reads the convolution, so it is in memory anyway.
// CHECK-LABEL: func.func @read_twice
// CHECK: nn.batch_norm
func.func @read_twice(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>) -> (tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %0, %1#0 : tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>
}

// Frozen statistics need no sums over pixels.
// CHECK-LABEL: func.func @frozen
// CHECK: nn.batch_norm
func.func @frozen(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>) -> tensor<2x4x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %1#0 : tensor<2x4x4x16xf32>
}
