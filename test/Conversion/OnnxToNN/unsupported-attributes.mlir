// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// What an operator's attributes or operands ask for and gpuopt does not have,
// in one list.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: GroupNormalization (opset 23) at 'groups': attribute num_groups = 4 does not divide the channels
// CHECK-NEXT: GroupNormalization (opset 23) at 'scales': scale and bias must have one element per channel or per group
// CHECK-NEXT: LpNormalization (opset 23) at 'lp': attribute p = 3 is not supported
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>, %i: tensor<5xf32>) -> !onnx.unknown attributes {inputNames = ["x", "s", "i"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "GroupNormalization"(%x, %s, %s) {num_groups = 4 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("groups")
  %1 = onnx.node "GroupNormalization"(%x, %i, %i) {num_groups = 2 : i64} : (tensor<2x6x4xf32>, tensor<5xf32>, tensor<5xf32>) -> !onnx.unknown loc("scales")
  %2 = onnx.node "LpNormalization"(%x) {p = 3 : i64} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("lp")
  onnx.return %0 : !onnx.unknown
}
