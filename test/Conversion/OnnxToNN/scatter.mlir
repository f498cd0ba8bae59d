// RUN: gpuopt-opt %s -convert-onnx-to-nn -split-input-file | FileCheck %s

// Without a reduction, the greatest number of a row's updates says which wins;
// rows without an update stay as they are.
// CHECK-LABEL: func.func @forward(%arg0: tensor<5x4xf32>
// CHECK: %[[ROW:.*]] = nn.in_range %{{.*}} of 5 : tensor<3xi64>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<-1> : tensor<5xi64>
// CHECK-DAG: %[[NUMBER:.*]] = nn.iota dim 0 : tensor<3xi64>
// CHECK: %[[OWNER:.*]] = nn.scatter max %[[NONE]], %[[NUMBER]], %[[ROW]] : tensor<5xi64>, tensor<3xi64>, tensor<3xi64>
// CHECK: %[[ZERO:.*]] = arith.constant dense<0> : tensor<5xi64>
// CHECK: %[[IS:.*]] = arith.cmpi sge, %[[OWNER]], %[[ZERO]] : tensor<5xi64>
// CHECK: %[[PICKED:.*]] = arith.maxsi %[[OWNER]], %[[ZERO]] : tensor<5xi64>
// CHECK: %[[TAKEN:.*]] = nn.take %arg2, %[[PICKED]] : tensor<3x4xf32>, tensor<5xi64>
// CHECK: %[[WIDE:.*]] = nn.broadcast %{{.*}} : tensor<5x1xi1> to tensor<5x4xi1>
// CHECK: arith.select %[[WIDE]], %[[TAKEN]], %arg0 : tensor<5x4xi1>, tensor<5x4xf32>
onnx.graph @runtime(%x: tensor<5x4xf32>, %i: tensor<3x1xi64>, %u: tensor<3x4xf32>) -> !onnx.unknown attributes {inputNames = ["x", "i", "u"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %y = onnx.node "ScatterND"(%x, %i, %u) : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// The owners of constant indices are constants. A sum of floating-point numbers
// is that of an embedding's gradient; other reductions have a call of their own.
// CHECK-LABEL: func.func @forward(%arg0: tensor<5x4xf32>
// CHECK: %[[OWNER:.*]] = arith.constant dense<[0, 2, 0, 0, 1]> : tensor<5xi64>
// CHECK: nn.take %arg1, %[[OWNER]] : tensor<3x4xf32>, tensor<5xi64>
// CHECK: arith.constant dense<{{\[\[}}false], [true], [false], [false], [true]]> : tensor<5x1xi1>
// CHECK: nn.broadcast %{{.*}} : tensor<5x1xi1> to tensor<5x4xi1>
// CHECK: nn.scatter_add %arg1, %{{.*}} rows 5 : tensor<3x4xf32>, tensor<3xi64>
// CHECK: nn.scatter prod %arg0, %arg1, %{{.*}} : tensor<5x4xf32>, tensor<3x4xf32>, tensor<3xi64>
onnx.graph @constant_indices(%x: tensor<5x4xf32>, %u: tensor<3x4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "u"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c"]} {
  %rows = onnx.initializer "rows" = dense<[[1], [-1], [1]]> : tensor<3x1xi64>
  %a = onnx.node "ScatterND"(%x, %rows, %u) : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> !onnx.unknown
  %b = onnx.node "ScatterND"(%x, %rows, %u) {reduction = "add"} : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> !onnx.unknown
  %c = onnx.node "ScatterND"(%x, %rows, %u) {reduction = "mul"} : (tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>) -> !onnx.unknown
  onnx.return %a, %b, %c : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// What is constant is computed, and so is what depends on constants alone:
// which elements are not 0, and what is unique.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: arith.constant dense<[5, 9, 7]> : tensor<3xi64>
// CHECK-DAG: arith.constant dense<[13, 6, 7]> : tensor<3xi64>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 2]]> : tensor<1x2xi64>
// CHECK-DAG: arith.constant dense<[0, 5]> : tensor<2xi64>
onnx.graph @constants() -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %table = onnx.initializer "table" = dense<[5, 6, 7]> : tensor<3xi64>
  %places = onnx.initializer "places" = dense<[1, 0, 1]> : tensor<3xi64>
  %sums = onnx.initializer "sums" = dense<[0, 0, 0]> : tensor<3xi64>
  %updates = onnx.initializer "updates" = dense<[8, 5, 9]> : tensor<3xi64>
  %more = onnx.initializer "more" = dense<[4, 0, 4]> : tensor<3xi64>
  %firsts = onnx.initializer "firsts" = dense<0> : tensor<3xi64>
  %sparse = onnx.initializer "sparse" = dense<[5, 0, 5]> : tensor<3xi64>
  %a = onnx.node "ScatterElements"(%table, %places, %updates) : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> !onnx.unknown
  %b = onnx.node "ScatterElements"(%table, %firsts, %more) {reduction = "add"} : (tensor<3xi64>, tensor<3xi64>, tensor<3xi64>) -> !onnx.unknown
  %c = onnx.node "NonZero"(%sparse) : (tensor<3xi64>) -> !onnx.unknown
  %d = onnx.node "Unique"(%sparse) : (tensor<3xi64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// NaNs are equal, and come last.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: nn.concat %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}} dim 0 : tensor<1xf32>
// CHECK-DAG: arith.constant dense<[2, 1, 0]> : tensor<3xi64>
// CHECK-DAG: arith.constant dense<[2, 1, 0, 2]> : tensor<4xi64>
// CHECK-DAG: arith.constant dense<[1, 1, 2]> : tensor<3xi64>
onnx.graph @unique() -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %x = onnx.node "Constant"() {value = dense<[0x7FC00000, 2.0, 1.0, 0x7FC00000]> : tensor<4xf32>} : () -> !onnx.unknown
  %a, %b, %c, %d = onnx.node "Unique"(%x) as ["a", "b", "c", "d"] : (!onnx.unknown) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown)
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// A large table is scattered to by the program. What a large splat of places
// names is one number.
// CHECK-LABEL: func.func @forward
// CHECK: nn.scatter
// CHECK: arith.constant dense<5> : tensor<1099511627776xi64>
onnx.graph @large() -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %table = onnx.initializer "table" = dense<1> : tensor<1099511627776xi64>
  %places = onnx.initializer "places" = dense<[1, 0]> : tensor<2xi64>
  %updates = onnx.initializer "updates" = dense<[8, 5]> : tensor<2xi64>
  %last = onnx.initializer "last" = dense<-1> : tensor<1099511627776xi64>
  %a = onnx.node "ScatterElements"(%table, %places, %updates) {reduction = "max"} : (tensor<1099511627776xi64>, tensor<2xi64>, tensor<2xi64>) -> !onnx.unknown
  %b = onnx.node "Gather"(%updates, %last) : (tensor<2xi64>, tensor<1099511627776xi64>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}
