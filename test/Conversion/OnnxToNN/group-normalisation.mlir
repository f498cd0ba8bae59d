// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Up to opset 20 there is one scale for each group, later one for each channel.
// CHECK: nn.reshape %arg0 : tensor<2x6x4xf32> to tensor<2x3x2x4xf32>
// CHECK: nn.layer_norm %{{.*}} axis 2
// CHECK: nn.reshape %{{.*}} : tensor<3xf32> to tensor<3x1x1xf32>
// CHECK: nn.layer_norm %{{.*}} axis 2
// CHECK: nn.reshape %{{.*}} : tensor<6xf32> to tensor<3x2x1xf32>
onnx.graph @g(%x: tensor<2x6x4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y", "z"]} {
  %groups = onnx.initializer "groups.weight" at <"m.onnx", offset = 0, size = 12> : tensor<3xf32>
  %channels = onnx.initializer "channels.weight" at <"m.onnx", offset = 12, size = 24> : tensor<6xf32>
  %y = onnx.node "GroupNormalization"(%x, %groups, %groups) {num_groups = 3 : i64} : (tensor<2x6x4xf32>, tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
  %z = onnx.node "GroupNormalization"(%x, %channels, %channels) {num_groups = 3 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown
  onnx.return %y, %z : !onnx.unknown, !onnx.unknown
}
