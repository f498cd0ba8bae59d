// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Weights of one name in two branches are two variables, which are saved by two
// names.
// CHECK: train.variable @w parameter : tensor<2xf32> {savedAs = ["w"], value = dense<2.000000e+00> : tensor<2xf32>}
// CHECK: train.variable @w_1 parameter : tensor<2xf32> {savedAs = ["w_1"], value = dense<1.000000e+00> : tensor<2xf32>}
onnx.graph @g(%x: tensor<2xf32>, %c: tensor<i1>) -> !onnx.unknown attributes {inputNames = ["x", "c"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %y = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    %w = onnx.initializer "w" = dense<1.0> : tensor<2xf32>
    onnx.return %w : tensor<2xf32>
  }, {
    %w = onnx.initializer "w" = dense<2.0> : tensor<2xf32>
    onnx.return %w : tensor<2xf32>
  }
  onnx.return %y : !onnx.unknown
}
