// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// What an operator's attributes or operands ask for and gpuopt does not have,
// in one list.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: GroupNormalization (opset 23) at 'groups': attribute num_groups = 4 does not divide the channels
// CHECK-NEXT: GroupNormalization (opset 23) at 'scales': scale and bias must have one element per channel or per group
// CHECK-NEXT: LpNormalization (opset 23) at 'lp': attribute p = 3 is not supported
// CHECK-NEXT: Einsum (opset 23) at 'terms': the equation has 1 terms for 2 operands
// CHECK-NEXT: Einsum (opset 23) at 'rank': the equation's term 'ij' does not fit the rank 3 of operand 0
// CHECK-NEXT: Einsum (opset 23) at 'sizes': a letter of the equation has the sizes 6 and 4
// CHECK-NEXT: Einsum (opset 23) at 'result': the equation's result 'iz' is malformed
// CHECK-NEXT: Einsum (opset 23) at 'digit': the equation's term 'ij2' is malformed
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>, %i: tensor<5xf32>) -> !onnx.unknown attributes {inputNames = ["x", "s", "i"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "GroupNormalization"(%x, %s, %s) {num_groups = 4 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("groups")
  %1 = onnx.node "GroupNormalization"(%x, %i, %i) {num_groups = 2 : i64} : (tensor<2x6x4xf32>, tensor<5xf32>, tensor<5xf32>) -> !onnx.unknown loc("scales")
  %2 = onnx.node "LpNormalization"(%x) {p = 3 : i64} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("lp")
  %3 = onnx.node "Einsum"(%x, %s) {equation = "ijk->i"} : (tensor<2x6x4xf32>, tensor<6xf32>) -> !onnx.unknown loc("terms")
  %4 = onnx.node "Einsum"(%x) {equation = "ij->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("rank")
  %5 = onnx.node "Einsum"(%x) {equation = "ijj->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("sizes")
  %6 = onnx.node "Einsum"(%x) {equation = "ijk->iz"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("result")
  %7 = onnx.node "Einsum"(%x) {equation = "ij2->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("digit")
  onnx.return %0 : !onnx.unknown
}
