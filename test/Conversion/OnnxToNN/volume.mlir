// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// The depth of a volume goes to the batch: 2 windows of 2 planes each are 4
// planes, each with the channels of both planes.
// CHECK-LABEL: func.func @forward
// CHECK: %[[W:.*]] = nn.transpose %{{.*}} [0, 2, 1, 3, 4] : tensor<7x5x2x3x3xf32>
// CHECK: %[[WEIGHTS:.*]] = nn.reshape %[[W]] : tensor<7x2x5x3x3xf32> to tensor<7x10x3x3xf32>
// CHECK: %[[PADDED:.*]] = nn.pad %{{.*}} low [0, 1, 0, 0, 0] high [0, 0, 0, 0, 0] interior [0, 0, 0, 0, 0]
// CHECK: nn.slice %[[PADDED]] [0, 0, 0, 0, 0] [2, 2, 6, 4, 5] [1, 2, 1, 1, 1]
// CHECK: nn.slice %[[PADDED]] [0, 1, 0, 0, 0] [2, 2, 6, 4, 5] [1, 2, 1, 1, 1]
// CHECK: %[[BOTH:.*]] = nn.concat %{{.*}}, %{{.*}} dim 4 : tensor<4x6x4x1x5xf32>, tensor<4x6x4x1x5xf32>
// CHECK: %[[PLANES:.*]] = nn.reshape %[[BOTH]] : tensor<4x6x4x1x10xf32> to tensor<4x6x4x10xf32>
// CHECK: %[[Y:.*]] = nn.conv %[[PLANES]], %[[WEIGHTS]] strides [1, 1] pads [0, 0, 0, 0]
// Pooled over planes, then over the depth.
// CHECK: %[[PLANE:[a-z]*]], %{{.*}} = nn.max_pool %[[Y]] kernel [2, 2] strides [2, 2]
// CHECK: %[[LINES:.*]] = nn.reshape %[[PLANE]] : tensor<4x2x1x7xf32> to tensor<2x2x2x7xf32>
// CHECK: nn.max_pool %[[LINES]] kernel [2, 1] strides [2, 1]
onnx.graph @g(%x: tensor<2x5x3x6x4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" at <"w.bin", offset = 0, size = 2520> : tensor<7x5x2x3x3xf32>
  %c = onnx.node "Conv"(%x, %w) {strides = array<i64: 2, 1, 1>, pads = array<i64: 1, 0, 0, 0, 0, 0>} : (tensor<2x5x3x6x4xf32>, tensor<7x5x2x3x3xf32>) -> !onnx.unknown
  %y = onnx.node "MaxPool"(%c) {kernel_shape = array<i64: 2, 2, 2>, strides = array<i64: 2, 2, 2>} : (!onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
