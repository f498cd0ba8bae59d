// RUN: gpuopt-opt %s -convert-onnx-to-nn -verify-diagnostics | FileCheck %s

// Without training_mode, or where it is false, a node drops nothing, and is told
// of; one with a ratio of 0 means it.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
// expected-warning @below {{dropout is off at 'first' and 1 more: no training_mode was exported; gpuopt.export writes it}}
// expected-warning @below {{dropout is off at 'told': training_mode is false; gpuopt.export writes it true}}
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %half = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %zero = onnx.initializer "zero" = dense<0.0> : tensor<f32>
  %off = onnx.initializer "off" = dense<false> : tensor<i1>
  %0 = onnx.node "Dropout"(%x, %half) : (tensor<4xf32>, tensor<f32>) -> !onnx.unknown loc("first")
  %1 = onnx.node "Dropout"(%0, %half, %off) : (!onnx.unknown, tensor<f32>, tensor<i1>) -> !onnx.unknown loc("told")
  %2 = onnx.node "Dropout"(%1, %zero) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown loc("none")
  %3 = onnx.node "Dropout"(%2) : (!onnx.unknown) -> !onnx.unknown loc("second")
  onnx.return %3 : !onnx.unknown
}
