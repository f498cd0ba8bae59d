// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// The sign of a NaN is the NaN: only what equals zero becomes zero.
// CHECK: %[[IS_ZERO:.*]] = arith.cmpf oeq, %[[X:.*]], %[[ZERO:.*]] : tensor<4xf32>
// CHECK: %[[REST:.*]] = arith.select %[[IS_ZERO]], %[[ZERO]], %[[X]]
// CHECK: %[[IS_BELOW:.*]] = arith.cmpf olt, %[[X]], %[[ZERO]]
// CHECK: arith.select %[[IS_BELOW]], %{{.*}}, %[[REST]]
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 22 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "Sign"(%x) as ["y"] : (tensor<4xf32>) -> !onnx.unknown
  onnx.return %0 : !onnx.unknown
}
