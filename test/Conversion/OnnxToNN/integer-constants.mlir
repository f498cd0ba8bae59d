// RUN: gpuopt-opt %s -convert-onnx-to-nn -split-input-file | FileCheck %s

// Integers that only constants determine are constants, as shapes must be.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[SUM:.*]] = arith.constant dense<[6, 9]> : tensor<2xi64>
// CHECK-DAG: %[[PRODUCT:.*]] = arith.constant dense<-210> : tensor<1x1xi64>
// CHECK-DAG: %[[MAX:.*]] = arith.constant dense<{{\[\[}}5, 7, 3]]> : tensor<1x3xi64>
// The remainder has the sign of the divisor, or, as fmod, of the dividend.
// CHECK-DAG: %[[MOD:.*]] = arith.constant dense<{{\[\[}}1, -1, 1], [2, 1, 0]]> : tensor<2x3xi64>
// CHECK-DAG: %[[FMOD:.*]] = arith.constant dense<{{\[\[}}1, 1, -2], [2, 1, 0]]> : tensor<2x3xi64>
// Positions that were computed as numbers, rounded and kept in their bounds.
// CHECK-DAG: %[[CLIP:.*]] = arith.constant dense<[0, 0, 0, 1, 1]> : tensor<5xi64>
// CHECK: return %[[SUM]], %[[PRODUCT]], %[[MAX]], %[[MOD]], %[[FMOD]], %[[CLIP]]
onnx.graph @g(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["sum", "product", "max", "mod", "fmod", "clip"]} {
  %table = onnx.initializer "table" = dense<[[1, 7, -2], [5, 1, 3]]> : tensor<2x3xi64>
  %by = onnx.initializer "by" = dense<[[3, -2, 3], [3, 3, 3]]> : tensor<2x3xi64>
  %rows = onnx.initializer "rows" = dense<[1]> : tensor<1xi64>
  %columns = onnx.initializer "columns" = dense<[0]> : tensor<1xi64>
  %sum = onnx.node "ReduceSum"(%table, %rows) {keepdims = 0 : i64} : (tensor<2x3xi64>, tensor<1xi64>) -> !onnx.unknown
  %product = onnx.node "ReduceProd"(%table) : (tensor<2x3xi64>) -> !onnx.unknown
  %max = onnx.node "ReduceMax"(%table, %columns) : (tensor<2x3xi64>, tensor<1xi64>) -> !onnx.unknown
  %mod = onnx.node "Mod"(%table, %by) : (tensor<2x3xi64>, tensor<2x3xi64>) -> !onnx.unknown
  %fmod = onnx.node "Mod"(%table, %by) {fmod = 1 : i64} : (tensor<2x3xi64>, tensor<2x3xi64>) -> !onnx.unknown
  %from = onnx.initializer "from" = dense<-0.75> : tensor<f32>
  %to = onnx.initializer "to" = dense<3.0> : tensor<f32>
  %step = onnx.initializer "step" = dense<0.75> : tensor<f32>
  %low = onnx.initializer "low" = dense<0> : tensor<i64>
  %high = onnx.initializer "high" = dense<1> : tensor<i64>
  %range = onnx.node "Range"(%from, %to, %step) : (tensor<f32>, tensor<f32>, tensor<f32>) -> !onnx.unknown
  %places = onnx.node "Cast"(%range) {to = 7 : i64} : (!onnx.unknown) -> !onnx.unknown
  %clip = onnx.node "Clip"(%places, %low, %high) : (!onnx.unknown, tensor<i64>, tensor<i64>) -> !onnx.unknown
  onnx.return %sum, %product, %max, %mod, %fmod, %clip : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Numbers and distances that a double or an i64 does not hold.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[NEXT:.*]] = arith.constant dense<9007199254740992> : tensor<1xi64>
// CHECK-DAG: %[[DOWN:.*]] = arith.constant dense<[9223372036854775807, -1]> : tensor<2xi64>
// CHECK-DAG: %[[UP:.*]] = arith.constant dense<[-9223372036854775808, -1, 9223372036854775806]> : tensor<3xi64>
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<> : tensor<0xi64>
// CHECK: return %[[NEXT]], %[[DOWN]], %[[UP]], %[[NONE]]
onnx.graph @far_ranges(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["next", "down", "up", "none"]} {
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %exact = onnx.initializer "exact" = dense<9007199254740992> : tensor<i64>
  %beyond = onnx.initializer "beyond" = dense<9007199254740993> : tensor<i64>
  %least = onnx.initializer "least" = dense<-9223372036854775808> : tensor<i64>
  %most = onnx.initializer "most" = dense<9223372036854775807> : tensor<i64>
  %next = onnx.node "Range"(%exact, %beyond, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !onnx.unknown
  %down = onnx.node "Range"(%most, %least, %least) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !onnx.unknown
  %up = onnx.node "Range"(%least, %most, %most) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !onnx.unknown
  %none = onnx.node "Range"(%beyond, %exact, %one) : (tensor<i64>, tensor<i64>, tensor<i64>) -> !onnx.unknown
  onnx.return %next, %down, %up, %none : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// Constants without a sign, where their first bit is set too. Outputs have the
// type that programs hold them in.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[SUM:.*]] = arith.constant dense<[4, 6]> : tensor<2xi32>
// CHECK-DAG: %[[WIDE:.*]] = arith.constant dense<[3, 200]> : tensor<2xi64>
// CHECK-DAG: %[[FLOAT:.*]] = arith.constant dense<[3.000000e+00, 2.000000e+02]> : tensor<2xf32>
// CHECK: return %[[SUM]], %[[WIDE]], %[[FLOAT]]
onnx.graph @unsigned(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["sum", "wide", "float"]} {
  %few = onnx.initializer "few" = dense<[2, 3]> : tensor<2xui8>
  %many = onnx.initializer "many" = dense<[3, 200]> : tensor<2xui8>
  %sum = onnx.node "Add"(%few, %few) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %wide = onnx.node "Cast"(%many) {to = 7 : i64} : (tensor<2xui8>) -> !onnx.unknown
  %float = onnx.node "Cast"(%many) {to = 1 : i64} : (tensor<2xui8>) -> !onnx.unknown
  onnx.return %sum, %wide, %float : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
