// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// An Identity that stops the gradient is an op until the backward is built.
// CHECK-LABEL: func.func @forward
// CHECK: %[[X:.*]] = nn.concat %arg0 dim 0 {nn.stops_gradient} : tensor<2x3xf32>
// CHECK: %[[ONE:.*]] = nn.reshape %arg1 : tensor<f32> to tensor<1xf32>
// CHECK: %[[SAME:.*]] = nn.concat %[[ONE]] dim 0 {nn.stops_gradient} : tensor<1xf32>
// CHECK: %[[S:.*]] = nn.reshape %[[SAME]] : tensor<1xf32> to tensor<f32>
// CHECK: return %[[X]], %[[S]], %arg2, %arg0
onnx.graph @g(%x: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<2xi64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "s", "i"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %a = onnx.node "Identity"(%x) {stops_gradient = 1 : i64} : (tensor<2x3xf32>) -> !onnx.unknown
  %b = onnx.node "Identity"(%s) {stops_gradient = 1 : i64} : (tensor<f32>) -> !onnx.unknown
  %c = onnx.node "Identity"(%i) {stops_gradient = 1 : i64} : (tensor<2xi64>) -> !onnx.unknown
  %d = onnx.node "Identity"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
