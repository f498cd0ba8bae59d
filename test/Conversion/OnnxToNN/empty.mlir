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
