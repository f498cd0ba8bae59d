// RUN: gpuopt-opt %s -convert-onnx-to-nn -split-input-file | FileCheck %s

// Comparisons of floating-point constants are constants. With NaN, which is
// 0x7FC00000 of f32, none holds.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[EQUAL:.*]] = arith.constant dense<[false, true, false, false, false]> : tensor<5xi1>
// CHECK-DAG: %[[GREATER:.*]] = arith.constant dense<[false, false, true, false, false]> : tensor<5xi1>
// CHECK-DAG: %[[GREATER_OR_EQUAL:.*]] = arith.constant dense<[false, true, true, false, false]> : tensor<5xi1>
// CHECK-DAG: %[[LESS:.*]] = arith.constant dense<[true, false, false, false, false]> : tensor<5xi1>
// CHECK-DAG: %[[LESS_OR_EQUAL:.*]] = arith.constant dense<[true, true, false, false, false]> : tensor<5xi1>
// CHECK-NOT: arith.cmpf
// CHECK: return %[[EQUAL]], %[[GREATER]], %[[GREATER_OR_EQUAL]], %[[LESS]], %[[LESS_OR_EQUAL]]
onnx.graph @f32(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["equal", "greater", "greater_or_equal", "less", "less_or_equal"]} {
  %a = onnx.node "Constant"() {value = dense<[1.0, 2.0, 3.0, 0x7FC00000, 0x7FC00000]> : tensor<5xf32>} : () -> !onnx.unknown
  %b = onnx.node "Constant"() {value = dense<[2.0, 2.0, 2.0, 2.0, 0x7FC00000]> : tensor<5xf32>} : () -> !onnx.unknown
  %equal = onnx.node "Equal"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %greater = onnx.node "Greater"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %greater_or_equal = onnx.node "GreaterOrEqual"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %less = onnx.node "Less"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %less_or_equal = onnx.node "LessOrEqual"(%a, %b) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %equal, %greater, %greater_or_equal, %less, %less_or_equal : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// In double and half precision, with a number, and of the signs of 0.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[DOUBLE:.*]] = arith.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<[false, true]> : tensor<2xi1>
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<true> : tensor<i1>
// CHECK-NOT: arith.cmpf
// CHECK: return %[[DOUBLE]], %[[HALF]], %[[ZEROS]]
onnx.graph @types(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["double", "half", "zeros"]} {
  %a = onnx.node "Constant"() {value = dense<[1.0, 1.0000000000000002]> : tensor<2xf64>} : () -> !onnx.unknown
  %one = onnx.node "Constant"() {value = dense<1.0> : tensor<f64>} : () -> !onnx.unknown
  %double = onnx.node "Equal"(%a, %one) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %h = onnx.node "Constant"() {value = dense<[1.0, 2.0]> : tensor<2xf16>} : () -> !onnx.unknown
  %h1 = onnx.node "Constant"() {value = dense<1.0> : tensor<f16>} : () -> !onnx.unknown
  %half = onnx.node "Greater"(%h, %h1) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %plus = onnx.node "Constant"() {value = dense<0.0> : tensor<f32>} : () -> !onnx.unknown
  %minus = onnx.node "Constant"() {value = dense<-0.0> : tensor<f32>} : () -> !onnx.unknown
  %zeros = onnx.node "Equal"(%plus, %minus) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %double, %half, %zeros : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// What is made of them: logic, selections and casts. NaN is not 0, so true.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[BOOL:.*]] = arith.constant dense<[false, true, true, true]> : tensor<4xi1>
// CHECK-DAG: %[[NAN:.*]] = arith.constant dense<[false, false, true, false]> : tensor<4xi1>
// CHECK-DAG: %[[NUMBER:.*]] = arith.constant dense<[true, true, false, true]> : tensor<4xi1>
// CHECK-DAG: %[[INF:.*]] = arith.constant dense<[false, false, false, true]> : tensor<4xi1>
// CHECK-DAG: %[[FINITE:.*]] = arith.constant dense<[false, true, false, true]> : tensor<4xi1>
// CHECK-DAG: %[[EITHER:.*]] = arith.constant dense<[false, false, true, true]> : tensor<4xi1>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<[true, true, false, false]> : tensor<4xi1>
// CHECK-DAG: %[[CHOSEN:.*]] = arith.constant dense<[-1.000000e+00, 0.000000e+00, 0.000000e+00, 0.000000e+00]> : tensor<4xf32>
// CHECK-DAG: %[[INT:.*]] = arith.constant dense<[0, 1, 1, 1]> : tensor<4xi64>
// CHECK-DAG: %[[FLOAT:.*]] = arith.constant dense<[0.000000e+00, 1.000000e+00, 1.000000e+00, 1.000000e+00]> : tensor<4xf32>
// CHECK-DAG: %[[SPREAD:.*]] = arith.constant dense<true> : tensor<3x4xi1>
// CHECK-NOT: arith.{{cmpf|select|xori|andi|ori|extui|uitofp}}
// CHECK: return %[[BOOL]], %[[NAN]], %[[NUMBER]], %[[INF]], %[[FINITE]], %[[EITHER]], %[[ONE]], %[[CHOSEN]], %[[INT]], %[[FLOAT]], %[[SPREAD]]
onnx.graph @logic(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["bool", "nan", "number", "inf", "finite", "either", "one", "chosen", "int", "float", "spread"]} {
  %a = onnx.node "Constant"() {value = dense<[0.0, 0.5, 0x7FC00000, 0xFF800000]> : tensor<4xf32>} : () -> !onnx.unknown
  %bool = onnx.node "Cast"(%a) {to = 9 : i64} : (!onnx.unknown) -> !onnx.unknown
  %nan = onnx.node "IsNaN"(%a) : (!onnx.unknown) -> !onnx.unknown
  %number = onnx.node "Not"(%nan) : (!onnx.unknown) -> !onnx.unknown
  %inf = onnx.node "IsInf"(%a) : (!onnx.unknown) -> !onnx.unknown
  %finite = onnx.node "And"(%number, %bool) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %either = onnx.node "Or"(%nan, %inf) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %one = onnx.node "Xor"(%number, %inf) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %zero = onnx.node "Constant"() {value = dense<0.0> : tensor<f32>} : () -> !onnx.unknown
  %low = onnx.node "Constant"() {value = dense<-1.0> : tensor<f32>} : () -> !onnx.unknown
  %chosen = onnx.node "Where"(%bool, %zero, %low) : (!onnx.unknown, !onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %int = onnx.node "Cast"(%bool) {to = 7 : i64} : (!onnx.unknown) -> !onnx.unknown
  %float = onnx.node "Cast"(%bool) {to = 1 : i64} : (!onnx.unknown) -> !onnx.unknown
  %less = onnx.node "Less"(%low, %zero) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %shape = onnx.node "Constant"() {value_ints = array<i64: 3, 4>} : () -> !onnx.unknown
  %spread = onnx.node "Expand"(%less, %shape) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %bool, %nan, %number, %inf, %finite, %either, %one, %chosen, %int, %float, %spread : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// The mask of a batch, of 2^21 positions: constants repeat what they say for
// each sample, and it is worked out once. With others, all samples are.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<"{{.*}}"> : tensor<1x64x64xf32>
// CHECK-DAG: %[[ALL:.*]] = nn.broadcast %[[MASK]] : tensor<1x64x64xf32> to tensor<512x64x64xf32>
// CHECK-DAG: %[[COPIES:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<512x64x64xi1>
// CHECK-DAG: %[[GIVEN:.*]] = arith.select %{{.*}}, %arg1, %{{.*}} : tensor<512x64x64xi1>, tensor<512x64x64xf32>
// CHECK-NOT: arith.cmpi
// CHECK: return %[[ALL]], %[[COPIES]], %[[GIVEN]]
onnx.graph @batch(%m: tensor<64x64xi1>, %x: tensor<512x64x64xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["m", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["all", "copies", "given"]} {
  %from = onnx.node "Constant"() {value_int = 0 : i64} : () -> !onnx.unknown
  %to = onnx.node "Constant"() {value_int = 64 : i64} : () -> !onnx.unknown
  %step = onnx.node "Constant"() {value_int = 1 : i64} : () -> !onnx.unknown
  %range = onnx.node "Range"(%from, %to, %step) : (!onnx.unknown, !onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %rows = onnx.node "Constant"() {value_ints = array<i64: 512, 64, 1>} : () -> !onnx.unknown
  %columns = onnx.node "Constant"() {value_ints = array<i64: 512, 1, 64>} : () -> !onnx.unknown
  %whole = onnx.node "Constant"() {value_ints = array<i64: 512, 64, 64>} : () -> !onnx.unknown
  %last = onnx.node "Constant"() {value_ints = array<i64: -1>} : () -> !onnx.unknown
  %upright = onnx.node "Unsqueeze"(%range, %last) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %i = onnx.node "Expand"(%upright, %rows) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %j = onnx.node "Expand"(%range, %columns) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %causal = onnx.node "LessOrEqual"(%j, %i) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %true = onnx.node "Constant"() {value = dense<true> : tensor<1xi1>} : () -> !onnx.unknown
  %both = onnx.node "And"(%true, %causal) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %zero = onnx.node "Constant"() {value = dense<0.0> : tensor<f32>} : () -> !onnx.unknown
  %low = onnx.node "Constant"() {value = dense<-1.0> : tensor<f32>} : () -> !onnx.unknown
  %all = onnx.node "Where"(%both, %zero, %low) : (!onnx.unknown, !onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %m3 = onnx.node "Expand"(%m, %whole) : (tensor<64x64xi1>, !onnx.unknown) -> !onnx.unknown
  %some = onnx.node "And"(%m3, %both) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %given = onnx.node "Where"(%both, %x, %low) : (!onnx.unknown, tensor<512x64x64xf32>, !onnx.unknown) -> !onnx.unknown
  onnx.return %all, %some, %given : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
