// RUN: gpuopt-opt %s -nn-rewrite-stems -canonicalize | FileCheck %s

// Windows that do not overlap are the rows of a product. They are in the order of the weights.
// CHECK-LABEL: func.func @patches(
// CHECK-SAME: %[[X:.*]]: tensor<8x3x32x16xf32>, %[[W:.*]]: tensor<64x3x4x2xf32>
// CHECK: %[[T:.*]] = nn.transpose %[[X]] [0, 2, 3, 1]
// CHECK: %[[WINDOWS:.*]] = nn.reshape %[[T]] : tensor<8x32x16x3xf32> to tensor<8x8x4x8x2x3xf32>
// CHECK: %[[ORDERED:.*]] = nn.transpose %[[WINDOWS]] [0, 1, 3, 5, 2, 4]
// CHECK-DAG: %[[ROWS:.*]] = nn.reshape %[[ORDERED]] : tensor<8x8x8x3x4x2xf32> to tensor<8x8x8x24xf32>
// CHECK-DAG: %[[MATRIX:.*]] = nn.reshape %[[W]] : tensor<64x3x4x2xf32> to tensor<64x24xf32>
// CHECK: nn.contract "nhwk,dk->nhwd" %[[ROWS]], %[[MATRIX]]
func.func @patches(%x: tensor<8x3x32x16xf32>, %w: tensor<64x3x4x2xf32>) -> tensor<8x8x8x64xf32> {
  %0 = nn.transpose %x [0, 2, 3, 1] : tensor<8x3x32x16xf32>
  %1 = nn.conv %0, %w strides [4, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x16x3xf32>, tensor<64x3x4x2xf32>
  return %1 : tensor<8x8x8x64xf32>
}

// A convolution in one dimension has windows of height 1.
// CHECK-LABEL: func.func @signal
// CHECK: nn.contract "nhwk,dk->nhwd" {{.*}} : tensor<8x1x4x8xf32>, tensor<16x8xf32>
func.func @signal(%x: tensor<8x1x16x2xf32>, %w: tensor<16x2x1x4xf32>) -> tensor<8x1x4x16xf32> {
  %0 = nn.conv %x, %w strides [1, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x1x16x2xf32>, tensor<16x2x1x4xf32>
  return %0 : tensor<8x1x4x16xf32>
}

// Windows that overlap or are padded stay a convolution, of stride one over blocks of 2 x 2 pixels: a window of 7 x 7 begins with the second
// row of a block, and there are two blocks of zeros before the image, and one behind it. Each pixel of a block has a channel of zeros.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:.*]]: tensor<8x32x32x3xf32>, %[[W:.*]]: tensor<64x3x7x7xf32>
// CHECK-DAG: %[[PADDED:.*]] = nn.pad %[[W]] low [0, 0, 1, 1] high [0, 1, 0, 0] interior [0, 0, 0, 0] value 0.000000e+00
// CHECK-DAG: %[[SPLIT:.*]] = nn.reshape %[[PADDED]] : tensor<64x4x8x8xf32> to tensor<64x4x4x2x4x2xf32>
// CHECK-DAG: %[[TURNED:.*]] = nn.transpose %[[SPLIT]] [0, 3, 5, 1, 2, 4]
// CHECK-DAG: %[[WEIGHTS:.*]] = nn.reshape %[[TURNED]] : tensor<64x2x2x4x4x4xf32> to tensor<64x16x4x4xf32>
// CHECK-DAG: %[[INDEX:.*]] = nn.iota dim 3 : tensor<8x16x16x16xi64>
// CHECK-DAG: %[[LAST_PLACE:.*]] = arith.constant dense<14> : tensor<8x16x16x16xi64>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x16x16x16xf32>
// CHECK: %[[FIRST:.*]] = nn.slice %[[X]] [0, 0, 0, 0] [8, 16, 16, 1] [1, 2, 2, 1]
// CHECK: %[[REPEATED:.*]] = nn.broadcast %[[FIRST]]
// CHECK: arith.select %{{.*}}, %[[REPEATED]], %[[ZERO]]
// CHECK: nn.slice %[[X]] [0, 0, 1, 0] [8, 16, 16, 1] [1, 2, 2, 1]
// CHECK: nn.slice %[[X]] [0, 1, 0, 0] [8, 16, 16, 1] [1, 2, 2, 1]
// CHECK: %[[LAST:.*]] = nn.slice %[[X]] [0, 1, 1, 2] [8, 16, 16, 1] [1, 2, 2, 1]
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[INDEX]], %[[LAST_PLACE]]
// CHECK: %[[REPEATED_LAST:.*]] = nn.broadcast %[[LAST]]
// CHECK: %[[IMAGE:.*]] = arith.select %[[IS_LAST]], %[[REPEATED_LAST]]
// CHECK: nn.conv %[[IMAGE]], %[[WEIGHTS]] strides [1, 1] pads [2, 2, 1, 1]
func.func @windows(%x: tensor<8x32x32x3xf32>, %w: tensor<64x3x7x7xf32>) -> tensor<8x16x16x64xf32> {
  %0 = nn.conv %x, %w strides [2, 2] pads [3, 3, 3, 3] dilations [1, 1] groups 1 : tensor<8x32x32x3xf32>, tensor<64x3x7x7xf32>
  return %0 : tensor<8x16x16x64xf32>
}

// A spectrogram of one channel has blocks of eight, too. Where more numbers would be multiplied than with eight channels, or blocks do
// not tile the image, there are none.
// CHECK-LABEL: func.func @strides(
// CHECK: nn.conv %{{.*}}, %{{.*}} strides [1, 1] pads [1, 1, 0, 0] {{.*}} : tensor<8x16x16x8xf32>, tensor<64x8x2x2xf32>
// CHECK: nn.conv %{{.*}}, %{{.*}} strides [3, 3] pads [0, 0, 0, 0] {{.*}} : tensor<8x33x33x4xf32>, tensor<64x4x4x4xf32>
// CHECK: nn.conv %{{.*}}, %{{.*}} strides [2, 2] pads [1, 1, 1, 1] {{.*}} : tensor<8x31x32x4xf32>, tensor<64x4x3x3xf32>
func.func @strides(%a: tensor<8x32x32x1xf32>, %b: tensor<8x33x33x3xf32>, %c: tensor<8x31x32x3xf32>, %v: tensor<64x1x3x3xf32>, %w: tensor<64x3x4x4xf32>, %u: tensor<64x3x3x3xf32>) -> (tensor<8x16x16x64xf32>, tensor<8x10x10x64xf32>, tensor<8x16x16x64xf32>) {
  %0 = nn.conv %a, %v strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : tensor<8x32x32x1xf32>, tensor<64x1x3x3xf32>
  %1 = nn.conv %b, %w strides [3, 3] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x33x33x3xf32>, tensor<64x3x4x4xf32>
  %2 = nn.conv %c, %u strides [2, 2] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : tensor<8x31x32x3xf32>, tensor<64x3x3x3xf32>
  return %0, %1, %2 : tensor<8x16x16x64xf32>, tensor<8x10x10x64xf32>, tensor<8x16x16x64xf32>
}

// Without a stride there are four channels.
// CHECK-LABEL: func.func @zeros(
// CHECK-SAME: %[[X:.*]]: tensor<8x32x32x3xf32>, %[[W:.*]]: tensor<64x3x7x7xf32>
// CHECK-DAG: %[[WEIGHTS:.*]] = nn.pad %[[W]] low [0, 0, 0, 0] high [0, 1, 0, 0] interior [0, 0, 0, 0] value 0.000000e+00
// CHECK-DAG: %[[INDEX:.*]] = nn.iota dim 3 : tensor<8x32x32x4xi64>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x32x32x4xf32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant dense<2> : tensor<8x32x32x4xi64>
// CHECK: %[[FIRST:.*]] = nn.slice %[[X]] [0, 0, 0, 0] [8, 32, 32, 1]
// CHECK: %[[REPEATED:.*]] = nn.broadcast %[[FIRST]]
// CHECK: arith.select %{{.*}}, %[[REPEATED]], %[[ZERO]]
// CHECK: nn.slice %[[X]] [0, 0, 0, 1] [8, 32, 32, 1]
// CHECK: %[[LAST:.*]] = nn.slice %[[X]] [0, 0, 0, 2] [8, 32, 32, 1]
// CHECK: %[[IS_LAST:.*]] = arith.cmpi eq, %[[INDEX]], %[[TWO]]
// CHECK: %[[REPEATED_LAST:.*]] = nn.broadcast %[[LAST]]
// CHECK: %[[PADDED:.*]] = arith.select %[[IS_LAST]], %[[REPEATED_LAST]]
// CHECK: nn.conv %[[PADDED]], %[[WEIGHTS]] strides [1, 1] pads [3, 3, 3, 3]
func.func @zeros(%x: tensor<8x32x32x3xf32>, %w: tensor<64x3x7x7xf32>) -> tensor<8x32x32x64xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [3, 3, 3, 3] dilations [1, 1] groups 1 : tensor<8x32x32x3xf32>, tensor<64x3x7x7xf32>
  return %0 : tensor<8x32x32x64xf32>
}

// The last pixels are in no window.
// CHECK-LABEL: func.func @rest
// CHECK: nn.conv {{.*}} : tensor<8x33x32x4xf32>
func.func @rest(%x: tensor<8x33x32x3xf32>, %w: tensor<64x3x4x4xf32>) -> tensor<8x8x8x64xf32> {
  %0 = nn.conv %x, %w strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x33x32x3xf32>, tensor<64x3x4x4xf32>
  return %0 : tensor<8x8x8x64xf32>
}

// Rows of 12 elements are no whole vectors, so the blocks of 2 x 2 pixels get zeros.
// CHECK-LABEL: func.func @small_windows
// CHECK: nn.conv {{.*}} : tensor<8x16x16x16xf32>, tensor<64x16x1x1xf32>
func.func @small_windows(%x: tensor<8x32x32x3xf32>, %w: tensor<64x3x2x2xf32>) -> tensor<8x16x16x64xf32> {
  %0 = nn.conv %x, %w strides [2, 2] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x3xf32>, tensor<64x3x2x2xf32>
  return %0 : tensor<8x16x16x64xf32>
}

// More than four channels become eight.
// CHECK-LABEL: func.func @five_channels
// CHECK: nn.conv {{.*}} : tensor<8x32x32x8xf32>, tensor<64x8x3x3xf32>
func.func @five_channels(%x: tensor<8x32x32x5xf32>, %w: tensor<64x5x3x3xf32>) -> tensor<8x30x30x64xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x5xf32>, tensor<64x5x3x3xf32>
  return %0 : tensor<8x30x30x64xf32>
}

// Zeros would be most of what is read, or there is a vector of channels already, or more.
// CHECK-LABEL: func.func @few_and_many
// CHECK-COUNT-4: nn.conv %arg{{[0123]}}, %arg
func.func @few_and_many(%a: tensor<8x32x32x2xf32>, %b: tensor<8x32x32x8xf32>, %c: tensor<8x32x32x9xf32>, %d: tensor<8x32x32x4xf32>, %v: tensor<64x2x3x3xf32>, %w: tensor<64x8x3x3xf32>, %u: tensor<64x9x3x3xf32>, %t: tensor<64x4x3x3xf32>) -> (tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>) {
  %0 = nn.conv %a, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x2xf32>, tensor<64x2x3x3xf32>
  %1 = nn.conv %b, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x8xf32>, tensor<64x8x3x3xf32>
  %2 = nn.conv %c, %u strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x9xf32>, tensor<64x9x3x3xf32>
  %3 = nn.conv %d, %t strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x4xf32>, tensor<64x4x3x3xf32>
  return %0, %1, %2, %3 : tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>, tensor<8x30x30x64xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK: nn.conv %arg0, %arg1
func.func @groups(%x: tensor<8x32x32x3xf32>, %w: tensor<6x1x4x4xf32>) -> tensor<8x8x8x6xf32> {
  %0 = nn.conv %x, %w strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 3 : tensor<8x32x32x3xf32>, tensor<6x1x4x4xf32>
  return %0 : tensor<8x8x8x6xf32>
}

// What is normalised by constants still is data; what a parameter scales has a gradient.
train.variable @scale parameter : tensor<3xf32> {value = dense<1.0> : tensor<3xf32>}
// CHECK-LABEL: func.func @data
// CHECK: nn.contract
// CHECK: nn.conv %{{.*}}, %arg1 strides [4, 4]
func.func @data(%x: tensor<8x32x32x3xf32>, %w: tensor<64x3x4x4xf32>) -> (tensor<8x8x8x64xf32>, tensor<8x8x8x64xf32>) {
  %mean = arith.constant dense<0.5> : tensor<8x32x32x3xf32>
  %0 = arith.subf %x, %mean : tensor<8x32x32x3xf32>
  %1 = nn.conv %0, %w strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x3xf32>, tensor<64x3x4x4xf32>
  %scale = train.read @scale : tensor<3xf32>
  %2 = nn.broadcast %scale : tensor<3xf32> to tensor<8x32x32x3xf32>
  %3 = arith.mulf %0, %2 : tensor<8x32x32x3xf32>
  %4 = nn.conv %3, %w strides [4, 4] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<8x32x32x3xf32>, tensor<64x3x4x4xf32>
  return %1, %4 : tensor<8x8x8x64xf32>, tensor<8x8x8x64xf32>
}
