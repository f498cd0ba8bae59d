// A batch norm of a forward is part of the weights and the bias before it.
// RUN: gpuopt-opt %s --train-fold-running-statistics --canonicalize | FileCheck %s

train.variable @w parameter : tensor<16x8x3x3xf32> {savedAs = ["w"]}
train.variable @fc parameter : tensor<16x8xf32> {savedAs = ["fc"]}
train.variable @b parameter : tensor<16xf32> {savedAs = ["b"]}
train.variable @c parameter : tensor<16xf32> {savedAs = ["c"]}
// The product alone reads @w, which is folded in its place; @fc has readers.
// CHECK-DAG: train.variable @w.bias.folded folded : tensor<16xf32> {of = @w}
// CHECK-DAG: train.variable @fc.weights.folded folded : tensor<16x8xf32>
// CHECK-DAG: train.variable @fc.bias.folded folded : tensor<16xf32>{{$}}
// CHECK-NOT: @w.weights.folded

// CHECK-LABEL: train.step @conv
// CHECK-DAG: %[[W:.*]] = train.read @w :
// CHECK-DAG: %[[B:.*]] = train.read @w.bias.folded
// CHECK: %[[Y:.*]] = nn.conv %{{.*}}, %[[W]]
// CHECK: %[[S:.*]] = nn.broadcast %[[B]]
// CHECK: %[[R:.*]] = arith.addf %[[Y]], %[[S]]
// CHECK: train.output "y", %[[R]]
train.step @conv forward ("x" %x: tensor<2x6x6x8xf32>) {
  %w = train.read @w : tensor<16x8x3x3xf32>
  %c = train.read @c : tensor<16xf32>
  %0 = nn.conv %x, %w strides [1, 1] pads [0, 0, 0, 0] dilations [1, 1] groups 1 : tensor<2x6x6x8xf32>, tensor<16x8x3x3xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  train.output "y", %1#0 : tensor<2x4x4x16xf32>
}

// A bias before the batch norm becomes part of the other one.
// CHECK-LABEL: train.step @product
// CHECK-NOT: train.read @b
// CHECK: nn.contract "ik,jk->ij" %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<16x8xf32>
// CHECK-NOT: nn.batch_norm
train.step @product forward ("x" %x: tensor<4x8xf32>) {
  %w = train.read @fc : tensor<16x8xf32>
  %b = train.read @b : tensor<16xf32>
  %c = train.read @c : tensor<16xf32>
  %0 = nn.contract "ik,jk->ij" %x, %w : tensor<4x8xf32>, tensor<16x8xf32>
  %1 = nn.broadcast %b : tensor<16xf32> to tensor<4x16xf32>
  %2 = arith.addf %0, %1 : tensor<4x16xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  train.output "y", %3#0 : tensor<4x16xf32>
}

// The bias of zeros that exporters write goes.
// CHECK-LABEL: train.step @zero_bias
// CHECK-NOT: nn.batch_norm
train.step @zero_bias forward ("x" %x: tensor<4x8xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<4x16xf32>
  %w = train.read @fc : tensor<16x8xf32>
  %c = train.read @c : tensor<16xf32>
  %0 = nn.contract "ik,jk->ij" %x, %w : tensor<4x8xf32>, tensor<16x8xf32>
  %2 = arith.addf %0, %zeros : tensor<4x16xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  train.output "y", %3#0 : tensor<4x16xf32>
}

// Something else reads the product; the statistics are those of the batch; the
// other matrix is no weight.
// CHECK-LABEL: train.step @unfolded
// CHECK-COUNT-3: nn.batch_norm
train.step @unfolded forward ("x" %x: tensor<4x8xf32>, "z" %z: tensor<16x8xf32>) {
  %w = train.read @fc : tensor<16x8xf32>
  %c = train.read @c : tensor<16xf32>
  %0 = nn.contract "ik,jk->ij" %x, %w : tensor<4x8xf32>, tensor<16x8xf32>
  %1:5 = nn.batch_norm %0, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %2 = nn.contract "ik,jk->ij" %x, %w : tensor<4x8xf32>, tensor<16x8xf32>
  %3:5 = nn.batch_norm %2, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %4 = nn.contract "ik,jk->ij" %x, %z : tensor<4x8xf32>, tensor<16x8xf32>
  %5:5 = nn.batch_norm %4, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 frozen : tensor<4x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  train.output "same", %0 : tensor<4x16xf32>
  train.output "a", %1#0 : tensor<4x16xf32>
  train.output "b", %3#0 : tensor<4x16xf32>
  train.output "c", %5#0 : tensor<4x16xf32>
}

// The step computes both for all of them.
// CHECK-LABEL: train.step @prepare prepare
// CHECK: math.rsqrt
// CHECK: train.write @w,
// CHECK: train.write @w.bias.folded
// CHECK: train.read @b
// CHECK: train.write @fc.weights.folded
// CHECK: train.write @fc.bias.folded
