// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn | FileCheck %s

// Unsigned constants above the largest signed number of their width are folded
// as ONNX means them: results wrap around, quotients and comparisons are those
// of unsigned numbers.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[SUM:.*]] = arith.constant dense<[44, 1]> : tensor<2xi32>
// CHECK-DAG: %[[DIFFERENCE:.*]] = arith.constant dense<[156, 255]> : tensor<2xi32>
// CHECK-DAG: %[[QUOTIENT:.*]] = arith.constant dense<[2, 0]> : tensor<2xi32>
// CHECK-DAG: %[[REST:.*]] = arith.constant dense<[0, 1]> : tensor<2xi32>
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<[200, 255]> : tensor<2xi32>
// CHECK-DAG: %[[GREATER:.*]] = arith.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: %[[TOTAL:.*]] = arith.constant dense<201> : tensor<1xi32>
// CHECK: return %[[SUM]], %[[DIFFERENCE]], %[[QUOTIENT]], %[[REST]], %[[MOST]], %[[GREATER]], %[[TOTAL]]
onnx.graph @g(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["sum", "difference", "quotient", "rest", "most", "greater", "total"]} {
  %a = onnx.initializer "a" = dense<[200, 1]> : tensor<2xui8>
  %b = onnx.initializer "b" = dense<[100, 0]> : tensor<2xui8>
  %c = onnx.initializer "c" = dense<[100, 255]> : tensor<2xui8>
  %sum = onnx.node "Add"(%a, %b) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %difference = onnx.node "Sub"(%b, %a) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %quotient = onnx.node "Div"(%a, %c) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %rest = onnx.node "Mod"(%a, %c) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %most = onnx.node "Max"(%a, %c) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %greater = onnx.node "Greater"(%a, %c) : (tensor<2xui8>, tensor<2xui8>) -> !onnx.unknown
  %total = onnx.node "ReduceSum"(%a) : (tensor<2xui8>) -> !onnx.unknown
  onnx.return %sum, %difference, %quotient, %rest, %most, %greater, %total : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// What such a result is computed with further is held in the same type.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[SHORT:.*]] = arith.constant dense<[9, 65535]> : tensor<2xi32>
// CHECK-DAG: %[[LONG:.*]] = arith.constant dense<[5, 0]> : tensor<2xi64>
// CHECK: return %[[SHORT]], %[[LONG]]
onnx.graph @g(%x: tensor<1xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["short", "long"]} {
  %a = onnx.initializer "a" = dense<[65535, 1]> : tensor<2xui16>
  %ten = onnx.initializer "ten" = dense<[10, 9]> : tensor<2xui16>
  %seven = onnx.initializer "seven" = dense<[0, 65525]> : tensor<2xui16>
  %l = onnx.initializer "l" = dense<[4294967295, 1]> : tensor<2xui32>
  %two = onnx.initializer "two" = dense<[2, 1]> : tensor<2xui32>
  %three = onnx.initializer "three" = dense<[2, 4294967293]> : tensor<2xui32>
  %0 = onnx.node "Add"(%a, %ten) : (tensor<2xui16>, tensor<2xui16>) -> !onnx.unknown
  %1 = onnx.node "Add"(%0, %seven) : (!onnx.unknown, tensor<2xui16>) -> !onnx.unknown
  %2 = onnx.node "Add"(%l, %two) : (tensor<2xui32>, tensor<2xui32>) -> !onnx.unknown
  %3 = onnx.node "Add"(%2, %three) : (!onnx.unknown, tensor<2xui32>) -> !onnx.unknown
  %4 = onnx.node "Add"(%3, %two) : (!onnx.unknown, tensor<2xui32>) -> !onnx.unknown
  onnx.return %1, %4 : !onnx.unknown, !onnx.unknown
}
