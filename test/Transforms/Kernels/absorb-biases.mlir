// RUN: gpuopt-opt %s --kernels-absorb-biases --split-input-file | FileCheck %s

train.variable @w parameter : tensor<16x32xf32>
train.variable @b parameter : tensor<32xf32>

// The heads of a fused projection are read by products, through views alone.
// CHECK-LABEL: train.step @heads
// CHECK: %[[B:.*]] = train.read @b
// CHECK: %[[Y:.*]] = nn.contract "btc,cd->btd" %{{.*}}, %{{.*}} bias %[[B]] : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
// CHECK-NOT: arith.addf
// CHECK: nn.slice %[[Y]]
train.step @heads forward ("x" %x: tensor<4x8x16xf32>) {
  %w = train.read @w : tensor<16x32xf32>
  %b = train.read @b : tensor<32xf32>
  %0 = nn.contract "btc,cd->btd" %x, %w : tensor<4x8x16xf32>, tensor<16x32xf32>
  %1 = nn.broadcast %b : tensor<32xf32> to tensor<4x8x32xf32>
  %2 = arith.addf %0, %1 : tensor<4x8x32xf32>
  %q = nn.slice %2 [0, 0, 0] [4, 8, 16] [1, 1, 1] : tensor<4x8x32xf32>
  %k = nn.slice %2 [0, 0, 16] [4, 8, 16] [1, 1, 1] : tensor<4x8x32xf32>
  %3 = nn.contract "bqd,bkd->bqk" %q, %k : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  train.output "y", %3 : tensor<4x8x8xf32>
}

// An activation is one kernel with the bias: nothing is saved.
// CHECK-LABEL: train.step @activation
// CHECK-NOT: bias
// CHECK: arith.addf
train.step @activation forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x32xf32>
  %b = train.read @b : tensor<32xf32>
  %0 = nn.contract "tc,cd->td" %x, %w : tensor<8x16xf32>, tensor<16x32xf32>
  %1 = nn.broadcast %b : tensor<32xf32> to tensor<8x32xf32>
  %2 = arith.addf %1, %0 : tensor<8x32xf32>
  %3 = math.tanh %2 : tensor<8x32xf32>
  train.output "y", %2 : tensor<8x32xf32>
  train.output "z", %3 : tensor<8x32xf32>
}

// No bias over the columns of the product: rows, a computed tensor, state that
// changes in between.
// CHECK-LABEL: train.step @others
// CHECK-NOT: bias
// CHECK-COUNT-3: arith.addf
train.step @others forward ("x" %x: tensor<32x16xf32>) {
  %w = train.read @w : tensor<16x32xf32>
  %b = train.read @b : tensor<32xf32>
  %0 = nn.contract "tc,cd->dt" %x, %w : tensor<32x16xf32>, tensor<16x32xf32>
  %1 = nn.broadcast %b : tensor<32xf32> to tensor<32x32xf32>
  %2 = arith.addf %0, %1 : tensor<32x32xf32>
  train.output "rows", %2 : tensor<32x32xf32>
  %3 = nn.reduce sum %x [1] : tensor<32x16xf32>
  %4 = nn.reshape %3 : tensor<32x1xf32> to tensor<32xf32>
  %5 = nn.broadcast %4 : tensor<32xf32> to tensor<32x32xf32>
  %6 = nn.contract "tc,cd->td" %x, %w : tensor<32x16xf32>, tensor<16x32xf32>
  %7 = arith.addf %6, %5 : tensor<32x32xf32>
  train.output "computed", %7 : tensor<32x32xf32>
  %8 = nn.contract "tc,cd->td" %x, %w : tensor<32x16xf32>, tensor<16x32xf32>
  train.write @b, %4 : tensor<32xf32>
  %9 = train.read @b : tensor<32xf32>
  %10 = nn.broadcast %9 : tensor<32xf32> to tensor<32x32xf32>
  %11 = arith.addf %8, %10 : tensor<32x32xf32>
  train.output "later", %11 : tensor<32x32xf32>
}

// -----

train.variable @w parameter : tensor<16x32xf32>
train.variable @b parameter : tensor<1xf32>

// One number for all columns is no bias that a product can read.
// CHECK-LABEL: train.step @number
// CHECK-NOT: bias
// CHECK: arith.addf
train.step @number forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x32xf32>
  %b = train.read @b : tensor<1xf32>
  %0 = nn.contract "tc,cd->td" %x, %w : tensor<8x16xf32>, tensor<16x32xf32>
  %1 = nn.broadcast %b : tensor<1xf32> to tensor<8x32xf32>
  %2 = arith.addf %0, %1 : tensor<8x32xf32>
  train.output "y", %2 : tensor<8x32xf32>
}
