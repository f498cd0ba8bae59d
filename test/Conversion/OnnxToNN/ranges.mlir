// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn | FileCheck %s

// Up to opset 9, the axes of Slice are an attribute.
// CHECK-LABEL: func.func @forward
// CHECK: nn.slice %arg0 [0, 1] [4, 2] [1, 1] : tensor<4x5xf32>
onnx.graph @old_slice(%x: tensor<4x5xf32>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 9 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Slice"(%x) {axes = array<i64: 1>, starts = array<i64: 1>, ends = array<i64: 3>} : (tensor<4x5xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// Backwards from before the first element, Slice takes the first one.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: arith.constant dense<> : tensor<0xf32>
// CHECK-DAG: nn.slice %arg0 [0] [1] [1] : tensor<4xf32>
onnx.graph @backwards(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y", "none"]} {
  %far = onnx.initializer "far" = dense<-9> : tensor<1xi64>
  %last = onnx.initializer "last" = dense<3> : tensor<1xi64>
  %zero = onnx.initializer "zero" = dense<0> : tensor<1xi64>
  %back = onnx.initializer "back" = dense<-1> : tensor<1xi64>
  %y = onnx.node "Slice"(%x, %far, %far, %zero, %back) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  %none = onnx.node "Slice"(%x, %zero, %last, %zero, %back) : (tensor<4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  onnx.return %y, %none : !onnx.unknown, !onnx.unknown
}

// -----

// Three parts of four elements have two, two and none.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<> : tensor<0xf32>
// CHECK-DAG: %[[A:.*]] = nn.slice %arg0 [0] [2] [1]
// CHECK-DAG: %[[B:.*]] = nn.slice %arg0 [2] [2] [1]
// CHECK: return %[[A]], %[[B]], %[[NONE]]
onnx.graph @split(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["a", "b", "c"]} {
  %parts:3 = onnx.node "Split"(%x) {num_outputs = 3} : (tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown)
  onnx.return %parts#0, %parts#1, %parts#2 : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Nothing is split into as many parts as there are to be.
// CHECK-LABEL: func.func @forward
// CHECK: %[[NONE:.*]] = arith.constant dense<> : tensor<0x5xf32>
// CHECK: return %[[NONE]], %[[NONE]]
onnx.graph @split_nothing(%x: tensor<0x5xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["a", "b"]} {
  %parts:2 = onnx.node "Split"(%x) : (tensor<0x5xf32>) -> (!onnx.unknown, !onnx.unknown)
  onnx.return %parts#0, %parts#1 : !onnx.unknown, !onnx.unknown
}

// -----

// Range has the type of its operands.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: arith.constant dense<[5, 3, 1, -1]> : tensor<4xi32>
// CHECK-DAG: arith.constant dense<[-3, 0]> : tensor<2xi16>
onnx.graph @range() -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 23 : i64}, outputNames = ["y", "z"]} {
  %five = onnx.initializer "five" = dense<5> : tensor<i32>
  %down = onnx.initializer "down" = dense<-2> : tensor<i32>
  %end = onnx.initializer "end" = dense<-3> : tensor<i32>
  %from = onnx.initializer "from" = dense<-3> : tensor<i16>
  %to = onnx.initializer "to" = dense<1> : tensor<i16>
  %by = onnx.initializer "by" = dense<3> : tensor<i16>
  %y = onnx.node "Range"(%five, %end, %down) : (tensor<i32>, tensor<i32>, tensor<i32>) -> !onnx.unknown
  %z = onnx.node "Range"(%from, %to, %by) : (tensor<i16>, tensor<i16>, tensor<i16>) -> !onnx.unknown
  onnx.return %y, %z : !onnx.unknown, !onnx.unknown
}

// -----

// A diagonal that is further away than any element is as far as one can be.
// CHECK-LABEL: func.func @forward
// CHECK: dense<6> : tensor<3x3xi64>
onnx.graph @triangle(%x: tensor<3x3xf32>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %k = onnx.initializer "k" = dense<9223372036854775807> : tensor<i64>
  %y = onnx.node "Trilu"(%x, %k) : (tensor<3x3xf32>, tensor<i64>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// A letter of the equation that stands for 0 and for 1 element has none.
// CHECK-LABEL: func.func @forward
// CHECK: %[[NONE:.*]] = arith.constant dense<> : tensor<0xf32>
// CHECK: return %[[NONE]], %[[NONE]]
onnx.graph @einsum_of_one(%x: tensor<0xf32>, %w: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "w"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y", "z"]} {
  %y = onnx.node "Einsum"(%x, %w) {equation = "i,i->i"} : (tensor<0xf32>, tensor<1xf32>) -> !onnx.unknown
  %z = onnx.node "Einsum"(%w, %x) {equation = "i,i->i"} : (tensor<1xf32>, tensor<0xf32>) -> !onnx.unknown
  onnx.return %y, %z : !onnx.unknown, !onnx.unknown
}

// -----

// A product that has no rows has no elements.
// CHECK-LABEL: func.func @forward
// CHECK: arith.constant dense<> : tensor<0x3xf32>
onnx.graph @einsum(%x: tensor<0x4xf32>, %w: tensor<4x3xf32>) -> (!onnx.unknown) attributes {inputNames = ["x", "w"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Einsum"(%x, %w) {equation = "ij,jk->ik"} : (tensor<0x4xf32>, tensor<4x3xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// f16 becomes bf16 through f32, which has the numbers of both.
// CHECK-LABEL: func.func @forward
// CHECK: %[[WIDE:.*]] = arith.extf %arg0 : tensor<4xf16> to tensor<4xf32>
// CHECK: arith.truncf %[[WIDE]] : tensor<4xf32> to tensor<4xbf16>
onnx.graph @halves(%x: tensor<4xf16>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Cast"(%x) {to = 16} : (tensor<4xf16>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// The slope of a norm, and of a standard deviation, is 0 where these are.
// CHECK-LABEL: func.func @forward
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[SUM:.*]], %[[ZERO:.*]] : tensor<1x1x3x3xf32>
// CHECK: %[[SAFE:.*]] = arith.select %[[IS_ZERO]], %{{.*}}, %[[SUM]]
// CHECK: %[[ROOT:.*]] = math.sqrt %[[SAFE]]
// CHECK: arith.select %[[IS_ZERO]], %[[ZERO]], %[[ROOT]]
// CHECK: math.powf
// CHECK: %[[CUBE_ROOT:.*]] = math.powf
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[CUBE_ROOT]] : tensor<1x1x1x1xi1>, tensor<1x1x1x1xf32>
// CHECK: %[[IS_EQUAL:.*]] = arith.cmpf oeq, %[[VARIANCE:.*]], %[[NONE:.*]] : tensor<1x1x1x1xf32>
// CHECK: %[[SAFE_VARIANCE:.*]] = arith.select %[[IS_EQUAL]], %{{.*}}, %[[VARIANCE]]
// CHECK: %[[DEVIATION:.*]] = math.sqrt %[[SAFE_VARIANCE]]
// CHECK: arith.select %[[IS_EQUAL]], %[[NONE]], %[[DEVIATION]]
onnx.graph @norms(%x: tensor<1x1x4x4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y", "z", "n"]} {
  %y = onnx.node "LpPool"(%x) {kernel_shape = array<i64: 2, 2>} : (tensor<1x1x4x4xf32>) -> !onnx.unknown
  %z = onnx.node "GlobalLpPool"(%x) {p = 3} : (tensor<1x1x4x4xf32>) -> !onnx.unknown
  %n = onnx.node "MeanVarianceNormalization"(%x) : (tensor<1x1x4x4xf32>) -> !onnx.unknown
  onnx.return %y, %z, %n : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
