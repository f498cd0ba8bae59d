// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// No gradient passes what is taken from the row of an embedding's padding.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TAKEN:.*]] = nn.take %{{.*}}, %arg0
// CHECK: %[[IS_ROW:.*]] = arith.cmpi eq, %arg0, %{{.*}} : tensor<2x3xi64>
// CHECK: %[[SAME:.*]] = nn.concat %[[TAKEN]] dim 0 {nn.stops_gradient} : tensor<2x3x4xf32>
// CHECK: %[[MASK:.*]] = nn.broadcast
// CHECK: %[[Y:.*]] = arith.select %[[MASK]], %[[SAME]], %[[TAKEN]]
// CHECK: %[[PLAIN:.*]] = nn.take %{{.*}}, %arg0
// CHECK: return %[[Y]], %[[PLAIN]]
onnx.graph @g(%i: tensor<2x3xi64>, %w: tensor<5x4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["i", "w"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %a = onnx.node "Gather"(%w, %i) {padding_row = 1 : i64} : (tensor<5x4xf32>, tensor<2x3xi64>) -> !onnx.unknown
  %b = onnx.node "Gather"(%w, %i) : (tensor<5x4xf32>, tensor<2x3xi64>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}
