// RUN: gpuopt-opt %s -convert-onnx-to-nn --canonicalize | FileCheck %s

// As attention is exported: rows that are masked whole give 0, not NaN.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[Y:.*]] = nn.softmax %arg0 dim 1 {zeroes_empty} : tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
onnx.graph @g(%x: tensor<4x8xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %zero = onnx.node "Constant"() {value_float = 0.0 : f32} : () -> !onnx.unknown
  %p = onnx.node "Softmax"(%x) {axis = -1 : i64} : (tensor<4x8xf32>) -> !onnx.unknown
  %empty = onnx.node "IsNaN"(%p) : (!onnx.unknown) -> !onnx.unknown
  %y = onnx.node "Where"(%empty, %zero, %p) : (!onnx.unknown, !onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
