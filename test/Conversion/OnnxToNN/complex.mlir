// RUN: not gpuopt-opt %s -split-input-file -convert-onnx-to-nn 2>&1 | FileCheck %s

// Complex numbers come as inputs, as initializers and as constants.
// CHECK: input 'x': complex numbers are not supported
onnx.graph @g(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  onnx.return %x : tensor<2xcomplex<f32>>
}

// -----

// CHECK: has 2 nodes that cannot be converted:
// CHECK-NEXT: initializer 'whole': complex numbers are not supported
// CHECK-NEXT: Constant (opset 23) at 'one': complex numbers are not supported
onnx.graph @g(%x: tensor<2xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %whole = onnx.initializer "whole" = dense<[(1.0, 2.0), (0.0, 1.0)]> : tensor<2xcomplex<f32>>
  %largest = onnx.node "ArgMax"(%whole) : (tensor<2xcomplex<f32>>) -> !onnx.unknown loc("largest")
  %one = onnx.node "Constant"() {value = dense<(1.0, 0.0)> : tensor<2xcomplex<f32>>} : () -> !onnx.unknown loc("one")
  onnx.return %largest : !onnx.unknown
}
