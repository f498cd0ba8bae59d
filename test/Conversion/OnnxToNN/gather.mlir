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

// -----

// A parameter is a table also where the rows that are taken are a slice. A
// single row that is picked makes no table.
// CHECK: train.variable @table parameter : tensor<5x4xf32> {{.*}}isTable
// CHECK: train.variable @other parameter
// CHECK-NOT: isTable
// CHECK: func.func
onnx.graph @tables() -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %table = onnx.initializer "table" = dense<1.0> : tensor<5x4xf32>
  %other = onnx.initializer "other" = dense<1.0> : tensor<5x4xf32>
  %positions = onnx.initializer "positions" = dense<[0, 1, 2]> : tensor<3xi64>
  %first = onnx.initializer "first" = dense<0> : tensor<1xi64>
  %a = onnx.node "Gather"(%table, %positions) : (tensor<5x4xf32>, tensor<3xi64>) -> !onnx.unknown
  %b = onnx.node "Gather"(%other, %first) : (tensor<5x4xf32>, tensor<1xi64>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}

// -----

// The program keeps no more of a constant table than the rows that are taken.
// CHECK: func.func @forward()
// CHECK-NOT: tensor<40x4xf32>
// CHECK: return %{{.*}} : tensor<20x4xf32>
onnx.graph @constant_table() -> !onnx.unknown attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["a"]} {
  %table = onnx.node "Constant"() {value = dense<[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0], [12.0, 13.0, 14.0, 15.0], [16.0, 17.0, 18.0, 19.0], [20.0, 21.0, 22.0, 23.0], [24.0, 25.0, 26.0, 27.0], [28.0, 29.0, 30.0, 31.0], [32.0, 33.0, 34.0, 35.0], [36.0, 37.0, 38.0, 39.0], [40.0, 41.0, 42.0, 43.0], [44.0, 45.0, 46.0, 47.0], [48.0, 49.0, 50.0, 51.0], [52.0, 53.0, 54.0, 55.0], [56.0, 57.0, 58.0, 59.0], [60.0, 61.0, 62.0, 63.0], [64.0, 65.0, 66.0, 67.0], [68.0, 69.0, 70.0, 71.0], [72.0, 73.0, 74.0, 75.0], [76.0, 77.0, 78.0, 79.0], [80.0, 81.0, 82.0, 83.0], [84.0, 85.0, 86.0, 87.0], [88.0, 89.0, 90.0, 91.0], [92.0, 93.0, 94.0, 95.0], [96.0, 97.0, 98.0, 99.0], [100.0, 101.0, 102.0, 103.0], [104.0, 105.0, 106.0, 107.0], [108.0, 109.0, 110.0, 111.0], [112.0, 113.0, 114.0, 115.0], [116.0, 117.0, 118.0, 119.0], [120.0, 121.0, 122.0, 123.0], [124.0, 125.0, 126.0, 127.0], [128.0, 129.0, 130.0, 131.0], [132.0, 133.0, 134.0, 135.0], [136.0, 137.0, 138.0, 139.0], [140.0, 141.0, 142.0, 143.0], [144.0, 145.0, 146.0, 147.0], [148.0, 149.0, 150.0, 151.0], [152.0, 153.0, 154.0, 155.0], [156.0, 157.0, 158.0, 159.0]]> : tensor<40x4xf32>} : () -> !onnx.unknown
  %places = onnx.initializer "places" = dense<[10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29]> : tensor<20xi64>
  %a = onnx.node "Gather"(%table, %places) : (!onnx.unknown, tensor<20xi64>) -> !onnx.unknown
  onnx.return %a : !onnx.unknown
}
