// RUN: gpuopt-opt %s -convert-onnx-to-nn -split-input-file | FileCheck %s

// Indices that are an input, of whatever type and shape, are checked as they
// are loaded; those that are computed are checked as they are read.

// CHECK: %[[WIDE:.*]] = arith.extsi %arg1
// CHECK: nn.take %arg0, %[[WIDE]] : tensor<5x4xf32>, tensor<3xi64>
// CHECK: %[[NEXT:.*]] = arith.addi
// CHECK: %[[ROW:.*]] = nn.in_range %[[NEXT]] of 5 : tensor<3xi64>
// CHECK: nn.take %arg0, %[[ROW]] : tensor<5x4xf32>, tensor<3xi64>
// CHECK: %[[PART:.*]] = nn.slice %arg2 [1] [2] [1]
// CHECK: nn.in_range %[[PART]] of 5
// The indices of elements along a dimension are checked before they become
// places in the operand.
// CHECK: %[[COLUMN:.*]] = nn.in_range %arg3 of 4 : tensor<5x2xi64>
// CHECK: arith.addi %[[COLUMN]], %{{.*}} : tensor<5x2xi64>
// CHECK: nn.take %{{.*}}, %{{.*}} : tensor<20xf32>, tensor<5x2xi64>
onnx.graph @g(%x: tensor<5x4xf32>, %i: tensor<3xi32>, %j: tensor<3xi64>, %k: tensor<5x2xi64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "i", "j", "k"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %one = onnx.initializer "one" = dense<1> : tensor<1xi64>
  %three = onnx.initializer "three" = dense<3> : tensor<1xi64>
  %a = onnx.node "Gather"(%x, %i) : (tensor<5x4xf32>, tensor<3xi32>) -> !onnx.unknown
  %next = onnx.node "Add"(%j, %one) : (tensor<3xi64>, tensor<1xi64>) -> !onnx.unknown
  %b = onnx.node "Gather"(%x, %next) : (tensor<5x4xf32>, !onnx.unknown) -> !onnx.unknown
  %part = onnx.node "Slice"(%j, %one, %three) : (tensor<3xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  %c = onnx.node "Gather"(%x, %part) : (tensor<5x4xf32>, !onnx.unknown) -> !onnx.unknown
  %d = onnx.node "GatherElements"(%x, %k) {axis = 1 : i64} : (tensor<5x4xf32>, tensor<5x2xi64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Rows without elements are no reason to divide by their size.
// CHECK: func.func @forward(%arg0: tensor<3x0xf32>
// CHECK: %[[Y:.*]] = arith.constant dense<> : tensor<2x0xf32>
// CHECK: return %[[Y]]
onnx.graph @empty_rows(%x: tensor<3x0xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %rows = onnx.initializer "rows" = dense<[[0], [1]]> : tensor<2x1xi64>
  %y = onnx.node "GatherND"(%x, %rows) : (tensor<3x0xf32>, tensor<2x1xi64>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
