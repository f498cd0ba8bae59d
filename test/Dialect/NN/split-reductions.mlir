// RUN: gpuopt-opt %s -nn-split-reductions=minimum-elements=64 | FileCheck %s

// CHECK-LABEL: func.func @large
// CHECK: %[[PART:.*]] = nn.reduce sum %arg0 [1] : tensor<4x8x16xf32>
// CHECK: nn.reduce sum %[[PART]] [0] : tensor<4x1x16xf32>
func.func @large(%x: tensor<4x8x16xf32>) -> tensor<1x1x16xf32> {
  %0 = nn.reduce sum %x [0, 1] : tensor<4x8x16xf32>
  return %0 : tensor<1x1x16xf32>
}

// CHECK-LABEL: func.func @small
// CHECK: nn.reduce sum %arg0 [0, 1] : tensor<2x2x4xf32>
func.func @small(%x: tensor<2x2x4xf32>) -> tensor<1x1x4xf32> {
  %0 = nn.reduce sum %x [0, 1] : tensor<2x2x4xf32>
  return %0 : tensor<1x1x4xf32>
}
