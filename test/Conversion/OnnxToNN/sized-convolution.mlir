// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// The size of a transposed convolution's result decides on its padding. Rows
// and columns that no window reaches are zeros behind it.
// CHECK-LABEL: func.func @forward
// CHECK: nn.conv_input_grad {{.*}} pads [0, 0, 1, 1]{{.*}} to tensor<1x6x10x3xf32>
// CHECK: nn.conv_input_grad {{.*}} pads [0, 0, 0, 0]{{.*}} to tensor<1x8x12x3xf32>
// CHECK: nn.pad {{.*}} high [0, 1, 2, 0]
onnx.graph @g(%x: tensor<1x2x3x5xf32>, %w: tensor<2x3x3x3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "w"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %a = onnx.node "ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>, auto_pad = "SAME_UPPER"} : (tensor<1x2x3x5xf32>, tensor<2x3x3x3xf32>) -> !onnx.unknown
  %b = onnx.node "ConvTranspose"(%x, %w) {strides = array<i64: 2, 2>, output_shape = array<i64: 9, 14>} : (tensor<1x2x3x5xf32>, tensor<2x3x3x3xf32>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}
