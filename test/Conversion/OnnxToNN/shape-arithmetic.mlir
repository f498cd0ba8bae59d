// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// What an exporter spells out to reshape to [batch, -1] folds away.
// CHECK-LABEL: func.func @forward(%arg0: tensor<4x2x3xf32> {nn.name = "x"}) -> (tensor<4x6xf32> {nn.name = "y"})
// CHECK-NEXT: %[[Y:.*]] = nn.reshape %arg0 : tensor<4x2x3xf32> to tensor<4x6xf32>
// CHECK-NEXT: return %[[Y]]
onnx.graph @g(%x: tensor<4x2x3xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %zero = onnx.node "Constant"() {value_ints = array<i64: 0>} : () -> !onnx.unknown
  %one = onnx.node "Constant"() {value_ints = array<i64: -1>} : () -> !onnx.unknown
  %shape = onnx.node "Shape"(%x) : (tensor<4x2x3xf32>) -> !onnx.unknown
  %batch = onnx.node "Gather"(%shape, %zero) {axis = 0 : i64} : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %to = onnx.node "Concat"(%batch, %one) {axis = 0 : i64} : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %y = onnx.node "Reshape"(%x, %to) : (tensor<4x2x3xf32>, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
