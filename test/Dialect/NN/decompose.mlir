// RUN: gpuopt-opt %s -nn-decompose | FileCheck %s
// RUN: gpuopt-opt %s -nn-decompose=one-read | FileCheck %s --check-prefix=ONE
// RUN: gpuopt-opt %s -nn-decompose="one-read conv-sums" | FileCheck %s --check-prefix=CONV

// CHECK-LABEL: func.func @softmax
// CHECK: %[[MAX:.*]] = nn.reduce max %arg0 [1]
// CHECK: %[[WIDE:.*]] = nn.broadcast %[[MAX]]
// CHECK: %[[SHIFTED:.*]] = arith.subf %arg0, %[[WIDE]]
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[EXP]] [1]
// CHECK: arith.divf %[[EXP]]
func.func @softmax(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = nn.softmax %x dim 1 : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// The variance is the mean of squared distances from the mean: two passes.
// CHECK-LABEL: func.func @layer_norm
// CHECK: %[[SUM:.*]] = nn.reduce sum %arg0 [1]
// CHECK: %[[MEAN:.*]] = arith.mulf %[[SUM]]
// CHECK: %[[CENTRED:.*]] = arith.subf %arg0
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[CENTRED]], %[[CENTRED]]
// CHECK: nn.reduce sum %[[SQUARE]] [1]
// CHECK: math.rsqrt
// CHECK: nn.broadcast %arg1
// CHECK-NOT: nn.layer_norm
func.func @layer_norm(%x: tensor<4x16xf32>, %scale: tensor<16xf32>) -> tensor<4x16xf32> {
  %y, %mean, %rstd = nn.layer_norm %x, %scale axis 1 epsilon 1.0e-5 : tensor<4x16xf32>, tensor<16xf32>
  return %y : tensor<4x16xf32>
}

// The mask is drawn from the op's stream, and drawn again wherever it is needed.
// CHECK-LABEL: func.func @dropout
// CHECK: nn.random_uniform stream 7
// CHECK: arith.cmpf oge
// CHECK: arith.select
func.func @dropout(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = nn.dropout %x ratio 0.5 stream 7 : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// CHECK-LABEL: func.func @cross_entropy
// CHECK: nn.iota dim 1
// CHECK: arith.cmpi eq
// CHECK: nn.reduce sum {{.*}} [1]
// CHECK-NOT: nn.cross_entropy
func.func @cross_entropy(%x: tensor<4x16xf32>, %labels: tensor<4xi64>) -> tensor<4x1xf32> {
  %loss, %lse = nn.cross_entropy %x, %labels ignore_index -100 label_smoothing 0.0 : tensor<4x16xf32>, tensor<4xi64>
  return %loss : tensor<4x1xf32>
}

// The running statistics are blended in the shape that the batch's have: no
// reshape parts the two, so that one kernel does it.
// CHECK-LABEL: func.func @batch_norm
// CHECK: %[[BATCH:.*]] = nn.reduce sum %arg0 [0, 1, 2]
// CHECK: %[[MEAN:.*]] = arith.mulf %[[BATCH]]
// CHECK: %[[RUNNING:.*]] = nn.reshape %arg2 : tensor<8xf32> to tensor<1x1x1x8xf32>
// CHECK: %[[KEPT:.*]] = arith.mulf %[[RUNNING]]
// CHECK: %[[TAKEN:.*]] = arith.mulf %[[MEAN]]
// CHECK: %[[BLEND:.*]] = arith.addf %[[KEPT]], %[[TAKEN]]
// CHECK: nn.reshape %[[BLEND]] : tensor<1x1x1x8xf32> to tensor<8xf32>
func.func @batch_norm(%x: tensor<4x3x3x8xf32>, %c: tensor<8xf32>, %mean: tensor<8xf32>) -> tensor<8xf32> {
  %0:5 = nn.batch_norm %x, %c, %c, %mean, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %0#1 : tensor<8xf32>
}

// Frozen statistics are read, not computed.
// CHECK-LABEL: func.func @frozen_batch_norm
// CHECK-NOT: nn.reduce
// CHECK: return
func.func @frozen_batch_norm(%x: tensor<4x3x3x8xf32>, %c: tensor<8xf32>) -> tensor<4x3x3x8xf32> {
  %0:5 = nn.batch_norm %x, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %0#0 : tensor<4x3x3x8xf32>
}

// Where a row is masked whole, its largest element is minus infinity, and the
// sum of no weights is 1.
// CHECK-LABEL: func.func @empty_rows
// CHECK: %[[MAX:.*]] = nn.reduce max %arg0 [1]
// CHECK: %[[EMPTY:.*]] = arith.cmpf oeq, %[[MAX]]
// CHECK: arith.select %[[EMPTY]], %{{.*}}, %[[MAX]]
// CHECK: %[[EXP:.*]] = math.exp
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[EXP]] [1]
// CHECK: %[[DIVISOR:.*]] = arith.select %[[EMPTY]], %{{.*}}, %[[SUM]]
// CHECK: %[[WIDE:.*]] = nn.broadcast %[[DIVISOR]]
// CHECK: arith.divf %[[EXP]], %[[WIDE]]
func.func @empty_rows(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = nn.softmax %x dim 1 {zeroes_empty} : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// x - max - log(sum(exp(x - max))).
// CHECK-LABEL: func.func @log_softmax
// CHECK: nn.reduce max %arg0 [1]
// CHECK: %[[SHIFTED:.*]] = arith.subf %arg0
// CHECK: %[[EXP:.*]] = math.exp %[[SHIFTED]]
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[EXP]] [1]
// CHECK: math.log %[[SUM]]
// CHECK: arith.subf
// CHECK-NOT: nn.log_softmax
func.func @log_softmax(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = nn.log_softmax %x dim 1 : tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// In one read, the moments are those of the distances from the first pixel. The work between the pixel and memory is done
// for it once more: here the addition of a bias, and a transpose that lies between.
// ONE-LABEL: func.func @pixel
// ONE: %[[IN:.*]] = nn.conv
// ONE: %[[X:.*]] = arith.addf %[[IN]]
// ONE: %[[T:.*]] = nn.transpose %[[X]] [0, 2, 1, 3]
// ONE: %[[CORNER:.*]] = nn.slice %[[IN]] [0, 0, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1]
// ONE: %[[BIAS:.*]] = nn.broadcast %arg2 : tensor<8xf32> to tensor<1x1x1x8xf32>
// ONE: %[[SUM:.*]] = arith.addf %[[CORNER]], %[[BIAS]] : tensor<1x1x1x8xf32>
// ONE: %[[PIXEL:.*]] = nn.transpose %[[SUM]]
// ONE: %[[ALL:.*]] = nn.broadcast %[[PIXEL]]
// ONE: %[[D:.*]] = arith.subf %[[T]], %[[ALL]]
// ONE: nn.reduce sum %[[D]] [0, 1, 2]
// ONE: %[[FIRST:.*]] = arith.mulf {{.*}} : tensor<1x1x1x8xf32>
// ONE: %[[D2:.*]] = arith.mulf %[[D]], %[[D]]
// ONE: nn.reduce sum %[[D2]] [0, 1, 2]
// ONE: %[[SECOND:.*]] = arith.mulf {{.*}} : tensor<1x1x1x8xf32>
// ONE: %[[SQUARE:.*]] = arith.mulf %[[FIRST]], %[[FIRST]]
// ONE: %[[SIGNED:.*]] = arith.subf %[[SECOND]], %[[SQUARE]]
// ONE: arith.maximumf %[[SIGNED]]
// ONE: arith.addf %[[PIXEL]], %[[FIRST]]
func.func @pixel(%x: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> tensor<4x3x3x8xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %1 = nn.broadcast %b : tensor<8xf32> to tensor<4x3x3x8xf32>
  %2 = arith.addf %0, %1 : tensor<4x3x3x8xf32>
  %3 = nn.transpose %2 [0, 2, 1, 3] : tensor<4x3x3x8xf32>
  %4:5 = nn.batch_norm %3, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %4#0 : tensor<4x3x3x8xf32>
}

// What a reduction makes lies nowhere yet: there the mean is read for, and then the variance.
// ONE-LABEL: func.func @no_pixel
// ONE-NOT: nn.slice
// ONE: arith.subf
// ONE-NOT: arith.maximumf
// ONE: return
func.func @no_pixel(%x: tensor<4x3x3x2x8xf32>, %c: tensor<8xf32>) -> tensor<4x3x3x1x8xf32> {
  %0 = nn.reduce sum %x [3] : tensor<4x3x3x2x8xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x1x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %1#0 : tensor<4x3x3x1x8xf32>
}

// A bias of zero changes no pixel, which is a view then.
// ONE-LABEL: func.func @no_bias
// ONE: %[[IN:.*]] = nn.conv
// ONE: %[[PIXEL:.*]] = nn.slice %[[IN]]
// ONE: %[[ALL:.*]] = nn.broadcast %[[PIXEL]]
// ONE: arith.subf %{{.*}}, %[[ALL]]
func.func @no_bias(%x: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>) -> tensor<4x3x3x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %1 = arith.addf %0, %zero : tensor<4x3x3x8xf32>
  %2:5 = nn.batch_norm %1, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %2#0 : tensor<4x3x3x8xf32>
}

// A convolution adds up its own channels. A bias of zero between it and the
// batch norm does not change them. Neither result is read for its moments.
// CONV-LABEL: func.func @sums_of_convolution
// CONV-NOT: nn.conv{{ }}
// CONV: %[[Y:.*]], %[[S:.*]], %[[Q:.*]] = nn.conv_with_sums %arg0, %arg1
// CONV-NOT: nn.reduce
// CONV: %[[MEAN:.*]] = arith.mulf %[[S]], %{{.*}} : tensor<1x1x1x8xf32>
// CONV: %[[SECOND:.*]] = arith.mulf %[[Q]], %{{.*}} : tensor<1x1x1x8xf32>
// CONV: %[[SQUARE:.*]] = arith.mulf %[[MEAN]], %[[MEAN]]
// CONV: %[[SIGNED:.*]] = arith.subf %[[SECOND]], %[[SQUARE]]
// CONV: arith.maximumf %[[SIGNED]]
// CONV-NOT: nn.reduce
// CONV: return
func.func @sums_of_convolution(%x: tensor<4x3x3x8xf32>, %w: tensor<8x8x1x1xf32>, %c: tensor<8xf32>) -> tensor<4x3x3x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x3x3x8xf32>
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x1x1xf32>
  %1 = arith.addf %0, %zero : tensor<4x3x3x8xf32>
  %2:5 = nn.batch_norm %1, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %2#0 : tensor<4x3x3x8xf32>
}

// cuDNN adds up no channels of groups, nor three or twelve of them, nor behind
// windows of more than 32 pixels; frozen statistics need no sums.
// CONV-LABEL: func.func @no_sums_of_convolution
// CONV-NOT: nn.conv_with_sums
// CONV: return
func.func @no_sums_of_convolution(%x: tensor<4x3x3x3xf32>, %w: tensor<8x3x1x1xf32>, %v: tensor<8x4x1x1xf32>,
                                  %u: tensor<12x8x1x1xf32>, %t: tensor<8x12x1x1xf32>, %s: tensor<8x8x3x11xf32>,
                                  %c: tensor<8xf32>, %d: tensor<12xf32>) -> tensor<4x3x3x8xf32> {
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x3xf32>, tensor<8x3x1x1xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %2 = nn.conv %1#0, %v strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 2 : tensor<4x3x3x8xf32>, tensor<8x4x1x1xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %4 = nn.conv %3#0, %u strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<12x8x1x1xf32>
  %5:5 = nn.batch_norm %4, %d, %d, %d, %d epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  %6 = nn.conv %5#0, %t strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<4x3x3x12xf32>, tensor<8x12x1x1xf32>
  %7:5 = nn.batch_norm %6, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  %8 = nn.conv %7#0, %s strides [1, 1] pads [1, 5, 1, 5] dilations [1, 1] groups 1 : tensor<4x3x3x8xf32>, tensor<8x8x3x11xf32>
  %9:5 = nn.batch_norm %8, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  return %9#0 : tensor<4x3x3x8xf32>
}

// The first channels of a dense block's concatenation have the statistics of the
// one before; only what is behind them is read.
// CHECK-LABEL: func.func @dense_block
// CHECK: %[[FIRST:.*]] = nn.concat %arg0, %arg1 dim 1
// CHECK: %[[BOTH:.*]] = nn.concat %[[FIRST]], %arg1 dim 1
// CHECK-DAG: %[[NEW:.*]] = nn.slice %[[BOTH]] [0, 8, 0, 0] [4, 4, 3, 3]
// CHECK-DAG: %[[OLD:.*]] = nn.transpose %[[FIRST]]
// CHECK-DAG: %[[TURNED:.*]] = nn.transpose %[[NEW]]
// CHECK-DAG: %[[OLDSUM:.*]] = nn.reduce sum %[[OLD]] [0, 1, 2]
// CHECK-DAG: %[[NEWSUM:.*]] = nn.reduce sum %[[TURNED]] [0, 1, 2]
// CHECK-DAG: nn.concat %{{.*}}, %{{.*}} dim 3 : tensor<1x1x1x8xf32>, tensor<1x1x1x4xf32>
// CHECK: return
// ONE-LABEL: func.func @dense_block
// ONE: %[[BOTH:.*]] = nn.concat %{{[0-9]+}}, %arg1 dim 1
// ONE: %[[NEW:.*]] = nn.slice %[[BOTH]] [0, 8, 0, 0] [4, 4, 3, 3]
// ONE: nn.slice %[[NEW]] [0, 0, 0, 0] [1, 4, 1, 1]
func.func @dense_block(%x: tensor<4x4x3x3xf32>, %y: tensor<4x4x3x3xf32>, %c: tensor<12xf32>) -> (tensor<4x3x3x12xf32>, tensor<4x8x3x3xf32>) {
  %0 = nn.concat %x, %y dim 1 : tensor<4x4x3x3xf32>, tensor<4x4x3x3xf32>
  %1 = nn.concat %0, %y dim 1 : tensor<4x8x3x3xf32>, tensor<4x4x3x3xf32>
  %2 = nn.transpose %1 [0, 2, 3, 1] : tensor<4x12x3x3xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  return %3#0, %0 : tensor<4x3x3x12xf32>, tensor<4x8x3x3xf32>
}

// A concatenation that nothing else reads has no statistics of its own.
// CHECK-LABEL: func.func @joined_in_steps
// CHECK-NOT: nn.concat {{.*}} dim 3
// CHECK: return
func.func @joined_in_steps(%x: tensor<4x4x3x3xf32>, %y: tensor<4x4x3x3xf32>, %c: tensor<12xf32>) -> tensor<4x3x3x12xf32> {
  %0 = nn.concat %x, %y dim 1 : tensor<4x4x3x3xf32>, tensor<4x4x3x3xf32>
  %1 = nn.concat %0, %y dim 1 : tensor<4x8x3x3xf32>, tensor<4x4x3x3xf32>
  %2 = nn.transpose %1 [0, 2, 3, 1] : tensor<4x12x3x3xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1
      : tensor<4x3x3x12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>, tensor<12xf32>
  return %3#0 : tensor<4x3x3x12xf32>
}

// The norm has no channels.
// CHECK-LABEL: func.func @no_channels
// CHECK-NOT: nn.batch_norm
// CHECK: return %{{.*}} : tensor<4x0xf32>
func.func @no_channels(%x: tensor<4x0xf32>, %c: tensor<0xf32>) -> tensor<4x0xf32> {
  %0:5 = nn.batch_norm %x, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<4x0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>, tensor<0xf32>
  return %0#0 : tensor<4x0xf32>
}
