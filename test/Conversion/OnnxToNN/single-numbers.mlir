// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn -verify-diagnostics | FileCheck %s
// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn="trained-params=^(t|constant)$" | FileCheck %s --check-prefix=TRAINED
// RUN: not gpuopt-opt %s -split-input-file -convert-onnx-to-nn=trained-params=[ 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: expects a regular expression for trained-params, but got '[': {{.}}

// Where the file does not say what is trained, single numbers that arithmetic
// reads are constants, and told of. A bound of Clip is no parameter.
// CHECK-NOT: train.variable
// TRAINED: train.variable @t parameter : tensor<f32>
// TRAINED-NOT: train.variable
// CHECK-LABEL: func.func @forward
// TRAINED-LABEL: func.func @forward
// expected-remark @below {{the file does not say what is trained, so single numbers are constants: 't', 'u', 'v' and 1 more; --trained-params='^t$' trains the first}}
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %t = onnx.initializer "t" = dense<0.5> : tensor<f32>
  %u = onnx.initializer "u" = dense<0.6> : tensor<1xf32>
  %v = onnx.initializer "v" = dense<0.7> : tensor<1x1xf32>
  %w = onnx.initializer "w" = dense<0.8> : tensor<f32>
  %low = onnx.initializer "low" = dense<0.0> : tensor<f32>
  %0 = onnx.node "Mul"(%x, %t) : (tensor<4xf32>, tensor<f32>) -> !onnx.unknown
  %1 = onnx.node "Add"(%0, %u) : (!onnx.unknown, tensor<1xf32>) -> !onnx.unknown
  %2 = onnx.node "Sub"(%1, %v) : (!onnx.unknown, tensor<1x1xf32>) -> !onnx.unknown
  %3 = onnx.node "Div"(%2, %w) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  %4 = onnx.node "Clip"(%3, %low) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  onnx.return %4 : !onnx.unknown
}

// -----

// A file that says so of one tensor says so of all. The flag trains what the
// file would not.
// CHECK-LABEL: func.func @forward
// CHECK: train.read @p
// TRAINED-DAG: train.variable @constant parameter : tensor<f32>
// TRAINED-DAG: train.variable @p parameter
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %p = onnx.initializer "p" trained true = dense<[0.5, 1.0, 2.0, 3.0]> : tensor<4xf32>
  %c = onnx.initializer "constant" trained false = dense<0.5> : tensor<f32>
  %0 = onnx.node "Mul"(%x, %p) : (tensor<4xf32>, tensor<4xf32>) -> !onnx.unknown
  %1 = onnx.node "Mul"(%0, %c) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  onnx.return %1 : !onnx.unknown
}

// -----

// The scales of a quantiser calibrate it; the weight that it rounds is trained.
// CHECK-DAG: train.variable @s frozen : tensor<4xf32>
// CHECK-DAG: train.variable @w parameter : tensor<4x4xf32>
// CHECK-LABEL: func.func @forward
onnx.graph @g(%x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" = dense<0.5> : tensor<4x4xf32>
  %s = onnx.initializer "s" = dense<[0.1, 0.2, 0.3, 0.4]> : tensor<4xf32>
  %z = onnx.initializer "z" = dense<0> : tensor<4xi8>
  %q = onnx.node "QuantizeLinear"(%w, %s, %z) {axis = 1 : i64} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xi8>) -> !onnx.unknown
  %d = onnx.node "DequantizeLinear"(%q, %s, %z) {axis = 1 : i64} : (!onnx.unknown, tensor<4xf32>, tensor<4xi8>) -> !onnx.unknown
  %y = onnx.node "MatMul"(%x, %d) : (tensor<4xf32>, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
