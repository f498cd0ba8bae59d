// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics | FileCheck %s

// Where the file does not say what is trained, Constant nodes that products and
// convolutions read are told of, as they may be weights. A bias of 64 elements
// or fewer, integers and what is only added are not.
// CHECK-NOT: train.variable
// CHECK-LABEL: func.func @forward
// expected-remark @below {{the file does not say what is trained, so weights in Constant nodes are not: 'w' for MatMul at 'fc' and 2 more; make initializers of them to train them}}
onnx.graph @g(%x: tensor<4x16xf32>) -> tensor<4x65x16xf32> attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.node "Constant"() {value = dense<0.5> : tensor<16x16xf32>} as ["w"] : () -> tensor<16x16xf32>
  %v = onnx.node "Constant"() {value = dense<0.5> : tensor<16x16xf32>} as ["v"] : () -> tensor<16x16xf32>
  %c = onnx.node "Constant"() {value = dense<0.5> : tensor<65x1x1xf32>} as ["c"] : () -> tensor<65x1x1xf32>
  %b = onnx.node "Constant"() {value = dense<0.5> : tensor<16xf32>} as ["b"] : () -> tensor<16xf32>
  %a = onnx.node "Constant"() {value = dense<0.5> : tensor<4x65x16xf32>} as ["a"] : () -> tensor<4x65x16xf32>
  %axes = onnx.node "Constant"() {value = dense<1> : tensor<1xi64>} as ["axes"] : () -> tensor<1xi64>
  %0 = onnx.node "MatMul"(%x, %w) as ["m"] : (tensor<4x16xf32>, tensor<16x16xf32>) -> tensor<4x16xf32> loc("fc")
  %1 = onnx.node "Gemm"(%0, %v, %b) as ["n"] : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = onnx.node "Unsqueeze"(%1, %axes) as ["u"] : (tensor<4x16xf32>, tensor<1xi64>) -> tensor<4x1x16xf32>
  %3 = onnx.node "Conv"(%2, %c) as ["k"] : (tensor<4x1x16xf32>, tensor<65x1x1xf32>) -> tensor<4x65x16xf32>
  %4 = onnx.node "Add"(%3, %a) as ["y"] : (tensor<4x65x16xf32>, tensor<4x65x16xf32>) -> tensor<4x65x16xf32>
  onnx.return %4 : tensor<4x65x16xf32>
}

// -----

// A file that says what is trained means its constants.
// CHECK-LABEL: func.func @forward
onnx.graph @g(%x: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.node "Constant"() {value = dense<0.5> : tensor<16x16xf32>} as ["w"] : () -> tensor<16x16xf32>
  %b = onnx.initializer "b" trained true = dense<0.5> : tensor<16xf32>
  %0 = onnx.node "Gemm"(%x, %w, %b) as ["y"] : (tensor<4x16xf32>, tensor<16x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  onnx.return %0 : tensor<4x16xf32>
}
