// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// One element says whether equal unsigned ones fit into signed integers,
// however many there are.
// CHECK-LABEL: func.func @forward
// CHECK-NEXT: %[[ONES:.*]] = arith.constant dense<1> : tensor<1099511627776xi64>
// CHECK-NEXT: %[[SIGNS:.*]] = arith.constant dense<1> : tensor<1099511627776xi64>
// CHECK-NEXT: return %[[ONES]], %[[SIGNS]]
onnx.graph @g(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["ones", "signs"]} {
  %many = onnx.initializer "many" = dense<1099511627776> : tensor<1xi64>
  %ones = onnx.node "ConstantOfShape"(%many) {value = dense<1> : tensor<1xui64>} : (tensor<1xi64>) -> !onnx.unknown
  %signs = onnx.node "Sign"(%ones) : (!onnx.unknown) -> !onnx.unknown
  onnx.return %ones, %signs : !onnx.unknown, !onnx.unknown
}
