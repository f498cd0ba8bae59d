// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn | FileCheck %s

// No kernel computes what has no elements: it is a constant, and so is what is
// reduced from it.
// CHECK-LABEL: func.func @forward
// CHECK-DAG: %[[NONE:.*]] = arith.constant dense<> : tensor<2x0xf32>
// CHECK-DAG: %[[SUMS:.*]] = arith.constant dense<0.000000e+00> : tensor<2x1xf32>
// CHECK-NOT: nn.
// CHECK: return %[[NONE]], %[[SUMS]]
onnx.graph @g(%x: tensor<2x4xf32>, %nothing: tensor<2x0xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "nothing"], opsets = {ai.onnx = 20 : i64}, outputNames = ["rest", "sums"]} {
  %four = onnx.initializer "four" = dense<4> : tensor<1xi64>
  %one = onnx.initializer "one" = dense<1> : tensor<1xi64>
  %rest = onnx.node "Slice"(%x, %four, %four, %one) : (tensor<2x4xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown
  %sums = onnx.node "ReduceSum"(%nothing, %one) : (tensor<2x0xf32>, tensor<1xi64>) -> !onnx.unknown
  onnx.return %rest, %sums : !onnx.unknown, !onnx.unknown
}

// -----

// Dimensions without elements stay so when others are resized.
// CHECK-LABEL: func.func @forward
// CHECK: %[[NONE:.*]] = arith.constant dense<> : tensor<0x1x5x4xf32>
// CHECK: return %[[NONE]], %[[NONE]]
onnx.graph @g(%x: tensor<0x1x3x4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["sized", "scaled"]} {
  %none = onnx.none : none
  %sizes = onnx.initializer "sizes" = dense<[0, 1, 5, 4]> : tensor<4xi64>
  %scales = onnx.initializer "scales" = dense<[1.0, 1.0, 1.7, 1.0]> : tensor<4xf32>
  %sized = onnx.node "Resize"(%x, %none, %none, %sizes) {mode = "linear"} : (tensor<0x1x3x4xf32>, none, none, tensor<4xi64>) -> !onnx.unknown
  %scaled = onnx.node "Resize"(%x, %none, %scales) {mode = "linear"} : (tensor<0x1x3x4xf32>, none, tensor<4xf32>) -> !onnx.unknown
  onnx.return %sized, %scaled : !onnx.unknown, !onnx.unknown
}
