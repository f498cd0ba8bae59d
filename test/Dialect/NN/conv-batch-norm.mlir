// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics | gpuopt-opt -split-input-file | FileCheck %s
// RUN: gpuopt-opt %s -split-input-file -verify-diagnostics -nn-decompose | FileCheck %s --check-prefix=FORMULA

// The statistics come from the input's sums and the products of its channels, which stay in f32, and the result from
// weights that they scale.
// CHECK-LABEL: func.func @statistics_of_the_input
// CHECK: nn.conv_batch_norm %arg0, %arg1, %arg2, %arg3, %arg4, %arg4 epsilon 1.000000e-05 momentum 1.000000e-01 :
// FORMULA-LABEL: func.func @statistics_of_the_input
// FORMULA-DAG: %[[W:.*]] = nn.reshape %arg1 : tensor<16x8x1x1xf32> to tensor<16x8xf32>
// FORMULA-DAG: nn.reduce sum %arg0 [0, 1, 2] {nn.from = "conv_batch_norm"}
// FORMULA-DAG: %[[SQUARES:.*]] = nn.contract "nhwc,nhwd->cd" %arg0, %arg0 wide {nn.from = "conv_batch_norm"}
// FORMULA: %[[MOMENTS:.*]] = nn.contract "oc,cd->od" %[[W]], %[[SQUARES]] full {nn.from = "conv_batch_norm"}
// FORMULA: %[[TERMS:.*]] = arith.mulf %[[W]], %[[MOMENTS]]
// FORMULA: %[[SECOND:.*]] = nn.reduce sum %[[TERMS]] [1]
// Of the mean over pixels, no more than a number for each channel is made.
// FORMULA: arith.mulf %[[SECOND]], %{{.*}} : tensor<16x1xf32>
// FORMULA: math.rsqrt
// FORMULA: %[[SCALED:.*]] = arith.mulf %[[W]], %
// FORMULA: nn.contract "nhwc,oc->nhwo" %arg0, %[[SCALED]] bias %{{.*}} {nn.from = "conv_batch_norm"} : tensor<2x4x4x8xf32>, tensor<16x8xf32> bias tensor<16xf32>
// FORMULA-NOT: nn.conv
func.func @statistics_of_the_input(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %scale: tensor<16xf32>, %bias: tensor<16xf32>, %running: tensor<16xf32>) -> (tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>) {
  %0:7 = nn.conv_batch_norm %x, %w, %scale, %bias, %running, %running epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return %0#0, %0#1, %0#2 : tensor<2x4x4x16xf32>, tensor<16xf32>, tensor<16xf32>
}

// -----

func.func @weights(%x: tensor<2x4x4x8xf32>, %w: tensor<16x4x1x1xf32>, %c: tensor<16xf32>) {
  // expected-error @below {{'nn.conv_batch_norm' op expects an input of rank 4 and weights for one pixel of it, but got 'tensor<2x4x4x8xf32>' and 'tensor<16x4x1x1xf32>'}}
  %0:7 = nn.conv_batch_norm %x, %w, %c, %c, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x8xf32>, tensor<16x4x1x1xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  return
}

// -----

func.func @parameters(%x: tensor<2x4x4x8xf32>, %w: tensor<16x8x1x1xf32>, %c: tensor<16xf32>, %d: tensor<8xf32>) {
  // expected-error @below {{'nn.conv_batch_norm' op expects parameters of type 'tensor<16xf32>', but got 'tensor<8xf32>'}}
  %0:7 = nn.conv_batch_norm %x, %w, %c, %d, %c, %c epsilon 1.0e-5 momentum 0.1 : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>, tensor<8xf32>, tensor<16xf32>, tensor<16xf32>
  return
}
