// RUN: gpuopt-opt %s -nn-absorb-layouts | FileCheck %s

// Attention's heads: split, transposed, multiplied, transposed back. Nothing is copied.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: nn.transpose
// CHECK: nn.contract "acbd,aebd->acbe"
// CHECK-NOT: nn.transpose
func.func @heads(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x8x16xf32>) -> tensor<2x4x8x4xf32> {
  %0 = nn.transpose %q [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %1 = nn.transpose %k [0, 2, 3, 1] : tensor<2x4x8x16xf32>
  %2 = nn.contract "abcd,abde->abce" %0, %1 : tensor<2x8x4x16xf32>, tensor<2x8x16x4xf32>
  %3 = nn.transpose %2 [0, 2, 1, 3] : tensor<2x8x4x4xf32>
  return %3 : tensor<2x4x8x4xf32>
}

// The flattened rows of a product stay (batch, tokens).
// CHECK-LABEL: func.func @flattened
// CHECK: %[[P:.*]] = nn.contract "abk,kj->abj" %arg0, %arg1 : tensor<4x8x16xf32>, tensor<16x32xf32>
// CHECK-NOT: nn.reshape
// CHECK: return
func.func @flattened(%x: tensor<4x8x16xf32>, %w: tensor<16x32xf32>, %b: tensor<32xf32>) -> tensor<4x8x32xf32> {
  %0 = nn.reshape %x : tensor<4x8x16xf32> to tensor<32x16xf32>
  %1 = nn.contract "ik,kj->ij" %0, %w : tensor<32x16xf32>, tensor<16x32xf32>
  %2 = nn.broadcast %b : tensor<32xf32> to tensor<32x32xf32>
  %3 = arith.addf %1, %2 : tensor<32x32xf32>
  %4 = nn.reshape %3 : tensor<32x32xf32> to tensor<4x8x32xf32>
  return %4 : tensor<4x8x32xf32>
}

// Transposes around elementwise work cancel.
// CHECK-LABEL: func.func @channels_last
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @channels_last(%x: tensor<2x4x4x8xf32>, %y: tensor<2x4x4x8xf32>) -> tensor<2x4x4x8xf32> {
  %c = arith.constant dense<0.0> : tensor<2x8x4x4xf32>
  %0 = nn.transpose %x [0, 3, 1, 2] : tensor<2x4x4x8xf32>
  %1 = nn.transpose %y [0, 3, 1, 2] : tensor<2x4x4x8xf32>
  %2 = arith.addf %0, %1 : tensor<2x8x4x4xf32>
  %3 = arith.maximumf %2, %c : tensor<2x8x4x4xf32>
  %4 = nn.transpose %3 [0, 2, 3, 1] : tensor<2x8x4x4xf32>
  return %4 : tensor<2x4x4x8xf32>
}

// The gradient of a global pooling is a value for each channel, repeated over the pixels. It lies the same in either
// order, so the transpose of the mask beside it sinks.
// CHECK-LABEL: func.func @pooled
// CHECK-NOT: nn.transpose
// CHECK: %[[G:.*]] = nn.reshape %arg1 : tensor<2x8x1x1xf32> to tensor<2x1x1x8xf32>
// CHECK: %[[B:.*]] = nn.broadcast %[[G]] : tensor<2x1x1x8xf32> to tensor<2x4x4x8xf32>
// CHECK: arith.select %arg0, %[[B]]
// CHECK-NOT: nn.transpose
func.func @pooled(%mask: tensor<2x4x4x8xi1>, %g: tensor<2x8x1x1xf32>) -> tensor<2x4x4x8xf32> {
  %c = arith.constant dense<0.0> : tensor<2x8x4x4xf32>
  %0 = nn.transpose %mask [0, 3, 1, 2] : tensor<2x4x4x8xi1>
  %1 = nn.broadcast %g : tensor<2x8x1x1xf32> to tensor<2x8x4x4xf32>
  %2 = arith.select %0, %1, %c : tensor<2x8x4x4xi1>, tensor<2x8x4x4xf32>
  %3 = nn.transpose %2 [0, 2, 3, 1] : tensor<2x8x4x4xf32>
  return %3 : tensor<2x4x4x8xf32>
}

// One that varies along the rows as well would have to be transposed.
// CHECK-LABEL: func.func @repeated_rows
// CHECK: nn.transpose %arg0
// CHECK: arith.mulf
func.func @repeated_rows(%x: tensor<2x4x4x8xf32>, %g: tensor<2x8x4x1xf32>) -> tensor<2x8x4x4xf32> {
  %0 = nn.transpose %x [0, 3, 1, 2] : tensor<2x4x4x8xf32>
  %1 = nn.broadcast %g : tensor<2x8x4x1xf32> to tensor<2x8x4x4xf32>
  %2 = arith.mulf %0, %1 : tensor<2x8x4x4xf32>
  return %2 : tensor<2x8x4x4xf32>
}

// A transpose that undoing on the other operand would cost another stays.
// CHECK-LABEL: func.func @mixed
// CHECK: %[[T:.*]] = nn.transpose %arg0
// CHECK: arith.addf %[[T]], %arg1
func.func @mixed(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = nn.transpose %x [1, 0] : tensor<4x8xf32>
  %1 = arith.addf %0, %y : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// The gradient of a split is a concatenation.
// CHECK-LABEL: func.func @split_gradient
// CHECK: nn.concat %arg0, %arg1, %arg0 dim 1
// CHECK-NOT: nn.pad
func.func @split_gradient(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x24xf32> {
  %0 = nn.pad %a low [0, 0] high [0, 16] interior [0, 0] value 0.0 : f32 : tensor<4x8xf32>
  %1 = nn.pad %b low [0, 8] high [0, 8] interior [0, 0] value 0.0 : f32 : tensor<4x8xf32>
  %2 = nn.pad %a low [0, 16] high [0, 0] interior [0, 0] value 0.0 : f32 : tensor<4x8xf32>
  %3 = arith.addf %0, %1 : tensor<4x24xf32>
  %4 = arith.addf %3, %2 : tensor<4x24xf32>
  return %4 : tensor<4x24xf32>
}

// A transpose that moves nothing but ones is a reshape and sinks no further:
// the sum of two would make each the other's transpose for ever.
// CHECK-LABEL: func.func @transposed_ones
// CHECK-NOT: nn.transpose
// CHECK: nn.reduce sum %arg0 [0, 2]
// CHECK: return
func.func @transposed_ones(%x: tensor<2x3x5xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %t = nn.transpose %x [0, 2, 1] : tensor<2x3x5xf32>
  %sum = nn.reduce sum %t [0, 1] : tensor<2x5x3xf32>
  %r = nn.reshape %y : tensor<3xf32> to tensor<1x1x3xf32>
  %0 = arith.addf %r, %sum : tensor<1x1x3xf32>
  %1 = nn.reshape %0 : tensor<1x1x3xf32> to tensor<3xf32>
  return %1 : tensor<3xf32>
}

// Two of them that undo each other, with elementwise work between.
// CHECK-LABEL: func.func @size_one
// CHECK-NOT: nn.transpose
// CHECK: return
func.func @size_one(%x: tensor<4x1x1x1xf32>, %y: tensor<4x1x1x1xf32>) -> tensor<1x1x1x1xf32> {
  %0 = nn.transpose %x [0, 3, 1, 2] : tensor<4x1x1x1xf32>
  %1 = arith.addf %y, %0 : tensor<4x1x1x1xf32>
  %2 = nn.transpose %1 [0, 2, 3, 1] : tensor<4x1x1x1xf32>
  %3 = arith.mulf %2, %x : tensor<4x1x1x1xf32>
  %4 = nn.reduce sum %3 [0, 1, 2, 3] : tensor<4x1x1x1xf32>
  return %4 : tensor<1x1x1x1xf32>
}

// Chunks of a weight's gradient are added up in the order in which the sum is
// read: each product writes that order.
// CHECK-LABEL: func.func @sum_of_products
// CHECK-NOT: nn.transpose
// CHECK: %[[A:.*]] = nn.contract "ik,ij->jk" %arg0, %arg1
// CHECK: %[[B:.*]] = nn.contract "ik,ij->jk" %arg2, %arg3
// CHECK: %[[C:.*]] = nn.contract "ik,ij->jk" %arg0, %arg3
// CHECK: %[[AB:.*]] = arith.addf %[[A]], %[[B]] : tensor<5x3xf32>
// CHECK: %[[ABC:.*]] = arith.addf %[[AB]], %[[C]] : tensor<5x3xf32>
// CHECK: arith.addf %[[ABC]], %arg4
func.func @sum_of_products(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>, %u: tensor<4x3xf32>, %v: tensor<4x5xf32>,
                           %table: tensor<5x3xf32>) -> tensor<5x3xf32> {
  %0 = nn.contract "ik,ij->kj" %x, %y : tensor<4x3xf32>, tensor<4x5xf32>
  %1 = nn.contract "ik,ij->kj" %u, %v : tensor<4x3xf32>, tensor<4x5xf32>
  %2 = nn.contract "ik,ij->kj" %x, %v : tensor<4x3xf32>, tensor<4x5xf32>
  %3 = arith.addf %0, %1 : tensor<3x5xf32>
  %4 = arith.addf %3, %2 : tensor<3x5xf32>
  %5 = nn.transpose %4 [1, 0] : tensor<3x5xf32>
  %6 = arith.addf %5, %table : tensor<5x3xf32>
  return %6 : tensor<5x3xf32>
}

// What something else reads is not made a second time.
// CHECK-LABEL: func.func @sum_read_twice
// CHECK: nn.transpose
func.func @sum_read_twice(%x: tensor<4x3xf32>, %y: tensor<4x5xf32>, %table: tensor<5x3xf32>)
    -> (tensor<5x3xf32>, tensor<3x5xf32>) {
  %0 = nn.contract "ik,ij->kj" %x, %y : tensor<4x3xf32>, tensor<4x5xf32>
  %1 = nn.contract "ik,ij->kj" %x, %y : tensor<4x3xf32>, tensor<4x5xf32>
  %2 = arith.addf %0, %1 : tensor<3x5xf32>
  %3 = nn.transpose %2 [1, 0] : tensor<3x5xf32>
  %4 = arith.addf %3, %table : tensor<5x3xf32>
  return %4, %2 : tensor<5x3xf32>, tensor<3x5xf32>
}

// Two repeated values are multiplied, one of them in another order: neither
// order is made the other's without end.
// CHECK-LABEL: func.func @transposed_repeats
// CHECK-NOT: nn.transpose
// CHECK: %[[A:.*]] = nn.broadcast %{{.*}} : {{.*}} to tensor<4x3x3x8xf32>
// CHECK-NOT: nn.transpose
// CHECK: arith.mulf
// CHECK-NOT: nn.transpose
func.func @transposed_repeats(%x: tensor<4x8x1x1xf32>, %scale: tensor<8xf32>, %w: tensor<8x5xf32>) -> tensor<4x3x3x5xf32> {
  %0 = nn.broadcast %x : tensor<4x8x1x1xf32> to tensor<4x8x3x3xf32>
  %1 = nn.broadcast %scale : tensor<8xf32> to tensor<4x3x3x8xf32>
  %2 = nn.transpose %0 [0, 2, 3, 1] : tensor<4x8x3x3xf32>
  %3 = arith.mulf %2, %1 : tensor<4x3x3x8xf32>
  %4 = nn.contract "abcd,de->abce" %3, %w : tensor<4x3x3x8xf32>, tensor<8x5xf32>
  return %4 : tensor<4x3x3x5xf32>
}

// Rows and inner dimensions of the image alternate in memory, so no product reads it as it lies. The transpose stays, and
// one copy serves both products.
// CHECK-LABEL: func.func @patches
// CHECK: %[[ROWS:.*]] = nn.transpose %{{.*}} [0, 1, 3, 2, 4]
// CHECK-DAG: nn.contract "nhwab,dab->nhwd" %[[ROWS]], %
// CHECK-DAG: nn.contract "nhwab,nhwd->dab" %[[ROWS]], %arg2
func.func @patches(%x: tensor<2x4x8x4x8xf32>, %w: tensor<16x64xf32>, %dy: tensor<2x4x4x16xf32>) -> (tensor<2x4x4x16xf32>, tensor<16x64xf32>) {
  %0 = nn.transpose %x [0, 1, 3, 2, 4] : tensor<2x4x8x4x8xf32>
  %1 = nn.reshape %0 : tensor<2x4x4x8x8xf32> to tensor<2x4x4x64xf32>
  %2 = nn.contract "nhwk,dk->nhwd" %1, %w : tensor<2x4x4x64xf32>, tensor<16x64xf32>
  %3 = nn.contract "nhwk,nhwd->dk" %1, %dy : tensor<2x4x4x64xf32>, tensor<2x4x4x16xf32>
  return %2, %3 : tensor<2x4x4x16xf32>, tensor<16x64xf32>
}

// Between no elements nothing is inserted.
// CHECK-LABEL: func.func @spread_of_nothing
// CHECK: return %{{.*}} : tensor<4x2xf32>
func.func @spread_of_nothing(%x: tensor<4x0xf32>) -> tensor<4x2xf32> {
  %0 = nn.pad %x low [0, 1] high [0, 1] interior [0, 2] value 0.0 : f32 : tensor<4x0xf32>
  return %0 : tensor<4x2xf32>
}
