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

// -----

// Positions, which repeat for each sample, are a slice of the table, and a
// single type of token is a row of it. Other constant indices are gathered.
// CHECK: %[[SLICE:.*]] = nn.slice %arg0 [1, 0] [3, 4] [1, 1]
// CHECK: %[[POSITIONS:.*]] = nn.reshape %[[SLICE]] : tensor<3x4xf32> to tensor<1x3x4xf32>
// CHECK: %[[A:.*]] = nn.broadcast %[[POSITIONS]] : tensor<1x3x4xf32> to tensor<2x3x4xf32>
// CHECK: %[[ROW:.*]] = nn.slice %arg0 [2, 0] [1, 4] [1, 1]
// CHECK: %[[B:.*]] = nn.broadcast %{{.*}} to tensor<2x3x4xf32>
// CHECK: %[[C:.*]] = nn.slice %arg0 [0, 1] [5, 2] [1, 2]
// CHECK: %[[D:.*]] = nn.take %arg0, %{{.*}} : tensor<5x4xf32>, tensor<3xi64>
// CHECK: %[[E:.*]] = nn.take %arg0, %{{.*}} : tensor<5x4xf32>, tensor<3xi64>
onnx.graph @runs(%table: tensor<5x4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["table"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d", "e"]} {
  %positions = onnx.initializer "positions" = dense<[[1, 2, 3], [1, 2, 3]]> : tensor<2x3xi64>
  %types = onnx.initializer "types" = dense<2> : tensor<2x3xi64>
  %columns = onnx.initializer "columns" = dense<[-3, -1]> : tensor<2xi64>
  %down = onnx.initializer "down" = dense<[3, 2, 1]> : tensor<3xi64>
  %uneven = onnx.initializer "uneven" = dense<[0, 1, 3]> : tensor<3xi64>
  %a = onnx.node "Gather"(%table, %positions) : (tensor<5x4xf32>, tensor<2x3xi64>) -> !onnx.unknown
  %b = onnx.node "Gather"(%table, %types) : (tensor<5x4xf32>, tensor<2x3xi64>) -> !onnx.unknown
  %c = onnx.node "Gather"(%table, %columns) {axis = 1 : i64} : (tensor<5x4xf32>, tensor<2xi64>) -> !onnx.unknown
  %d = onnx.node "Gather"(%table, %down) : (tensor<5x4xf32>, tensor<3xi64>) -> !onnx.unknown
  %e = onnx.node "Gather"(%table, %uneven) : (tensor<5x4xf32>, tensor<3xi64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d, %e : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
