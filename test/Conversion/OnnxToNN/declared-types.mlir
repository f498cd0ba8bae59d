// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics

// The first value that is not as declared is told of, with the count of others.
// expected-warning @below {{output 0 of Relu at 'first' is 'tensor<2x3xf32>', but the file declares 'tensor<3x2xf32>', and 1 more differ: either the file's declarations are out of date, and onnx.shape_inference.infer_shapes makes new ones once they are deleted, or gpuopt computes something else than the node means}}
onnx.graph @g(%x: tensor<2x3xf32>) -> tensor<2x3xf64> attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "Relu"(%x) : (tensor<2x3xf32>) -> tensor<3x2xf32> loc("first")
  %1 = onnx.node "Exp"(%0) : (tensor<3x2xf32>) -> tensor<2x3xf64> loc("second")
  onnx.return %1 : tensor<2x3xf64>
}

// -----

// An integer of another width.
// expected-warning @below {{output 1 of TopK at 'k' is 'tensor<2xi64>', but the file declares 'tensor<2xi32>': either}}
onnx.graph @g(%x: tensor<3xf32>) -> tensor<2xi32> attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %k = onnx.initializer "k" = dense<2> : tensor<1xi64>
  %0:2 = onnx.node "TopK"(%x, %k) : (tensor<3xf32>, tensor<1xi64>) -> (!onnx.unknown, tensor<2xi32>) loc("k")
  onnx.return %0#1 : tensor<2xi32>
}

// -----

// Open dimensions, types that are held in wider ones, and quantized numbers
// agree.
onnx.graph @g(%x: tensor<2x3xf32>, %n: tensor<3xi8>) -> (tensor<?x3xf32>, tensor<3xi8>, tensor<2x3xui8>) attributes {inputNames = ["x", "n"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c"]} {
  %scale = onnx.initializer "scale" = dense<0.5> : tensor<f32>
  %zero = onnx.initializer "zero" = dense<3> : tensor<ui8>
  %0 = onnx.node "Relu"(%x) : (tensor<2x3xf32>) -> tensor<?x3xf32>
  %1 = onnx.node "Add"(%n, %n) : (tensor<3xi8>, tensor<3xi8>) -> tensor<3xi8>
  %2 = onnx.node "QuantizeLinear"(%x, %scale, %zero) : (tensor<2x3xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x3xui8>
  onnx.return %0, %1, %2 : tensor<?x3xf32>, tensor<3xi8>, tensor<2x3xui8>
}
