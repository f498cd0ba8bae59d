// RUN: gpuopt-opt %s -kernels-materialize-views | FileCheck %s

// Products read their operands by strides.
// CHECK-LABEL: train.step @strided_product
// CHECK-NOT: nn.fused
train.step @strided_product forward ("x" %x: tensor<4x8x48xf32>) {
  %q = nn.slice %x [0, 0, 0] [4, 8, 16] [1, 1, 1] : tensor<4x8x48xf32>
  %k = nn.slice %x [0, 0, 16] [4, 8, 16] [1, 1, 1] : tensor<4x8x48xf32>
  %0 = nn.contract "bqd,bkd->bqk" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  train.output "y", %0 : tensor<4x8x8xf32>
}

// Letters that form no groups: the left matrix is copied into their order, the
// right one has it, and the result is made as its reader wants it.
// CHECK-LABEL: train.step @letters_without_groups
// CHECK: %[[T:.*]] = nn.transpose %{{.*}} [1, 0, 2, 3]
// CHECK: %[[C:.*]] = nn.fused "copy" %[[T]]
// CHECK-NOT: nn.fused
// CHECK: %[[P:.*]] = nn.contract "yabc,abcz->zy" %[[C]], %{{.*}}
// CHECK-NOT: nn.fused
// CHECK: train.output "dw", %[[P]]
train.step @letters_without_groups forward ("x" %x: tensor<4x5x2x3xf32>, "dy" %dy: tensor<4x2x3x7xf32>) {
  %0 = nn.contract "aybc,abcz->zy" %x, %dy : tensor<4x5x2x3xf32>, tensor<4x2x3x7xf32>
  train.output "dw", %0 : tensor<7x5xf32>
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

// The gradient of a weight is another one, which is updated before it: both
// readers read a copy of what it was.
train.variable @a parameter : tensor<4xf32>
train.variable @b parameter : tensor<2x4xf32>
// CHECK-LABEL: train.step @gradient_is_a_weight
// CHECK: %[[A:.*]] = train.read @a
// CHECK: %[[WIDE:.*]] = nn.broadcast %[[A]]
// CHECK: %[[C:.*]] = nn.fused "copy" %[[WIDE]]
// CHECK-NOT: nn.fused
// CHECK: train.grad_norm %{{.*}}, %[[C]]
// CHECK: train.update "sgd" @a
// CHECK-NOT: nn.fused
// CHECK: train.update "sgd" @b, %[[C]]
train.step @gradient_is_a_weight micro ("x" %x: tensor<4xf32>) {
  %a = train.read @a : tensor<4xf32>
  %wide = nn.broadcast %a : tensor<4xf32> to tensor<2x4xf32>
  train.grad_norm %x, %wide of [@a, @b] : tensor<4xf32>, tensor<2x4xf32>
  train.update "sgd" @a, %x : tensor<4xf32>
  train.update "sgd" @b, %wide : tensor<2x4xf32>
}

// The same where the gradient is dense, and before any update is read.
// CHECK-LABEL: train.step @statistics
// CHECK: %[[A:.*]] = train.read @a
// CHECK: %[[C:.*]] = nn.fused "copy" %[[A]]
// CHECK: train.write @a
// CHECK: train.write @c, %[[C]]
train.variable @c parameter : tensor<4xf32>
train.step @statistics micro ("x" %x: tensor<4xf32>) {
  %a = train.read @a : tensor<4xf32>
  train.write @a, %x : tensor<4xf32>
  train.write @c, %a : tensor<4xf32>
}

// Two calls that want the same copy read one.
// CHECK-LABEL: train.step @copied_once
// CHECK: %[[C:.*]] = nn.fused "copy"
// CHECK: nn.conv %[[C]], %
// CHECK-NOT: nn.fused "copy"
// CHECK: nn.conv_weight_grad %[[C]], %
train.step @copied_once micro ("x" %x: tensor<2x3x8x8xf32>, "w" %w: tensor<6x3x3x3xf32>) {
  %0 = nn.transpose %x [0, 2, 3, 1] : tensor<2x3x8x8xf32>
  %1 = nn.conv %0, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1 : tensor<2x8x8x3xf32>, tensor<6x3x3x3xf32>
  %2 = nn.conv_weight_grad %0, %1 strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
      : tensor<2x8x8x3xf32>, tensor<2x8x8x6xf32> to tensor<6x3x3x3xf32>
  train.output "y", %2 : tensor<6x3x3x3xf32>
}
