// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Equal constant indices, of which a small file may have many, pick their entry
// of a constant once.
// CHECK-LABEL: func.func @forward
// CHECK: %[[PICKED:.*]] = arith.constant dense<6> : tensor<16777216xi64>
// CHECK-NOT: nn.
// CHECK: return %[[PICKED]]
onnx.graph @g(%x: tensor<1xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %table = onnx.initializer "table" = dense<[5, 6, 7]> : tensor<3xi64>
  %many = onnx.initializer "many" = dense<16777216> : tensor<1xi64>
  %ones = onnx.node "ConstantOfShape"(%many) {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> !onnx.unknown
  %picked = onnx.node "Gather"(%table, %ones) : (tensor<3xi64>, !onnx.unknown) -> !onnx.unknown
  onnx.return %picked : !onnx.unknown
}
