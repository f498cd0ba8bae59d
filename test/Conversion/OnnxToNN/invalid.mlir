// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s
// RUN: not gpuopt-opt %s -convert-onnx-to-nn=batch-norm=maybe 2>&1 | FileCheck %s --check-prefix=NORM
// NORM: error: expects batch-norm to be train or frozen, but got 'maybe'
// RUN: not gpuopt-opt %s -convert-onnx-to-nn=frozen-params=[ 2>&1 | FileCheck %s --check-prefix=FROZEN
// FROZEN: error: expects a regular expression for frozen-params, but got '[': {{.}}
// RUN: gpuopt-opt %S/Inputs/no-tensors.mlir -convert-onnx-to-nn -split-input-file -verify-diagnostics

// All problems in one list, with operator, opset and node; what depends on a
// node that failed is not a problem of its own, but may have one: an operator
// that is not supported, or, where the file has the type, an attribute.
// CHECK: error: has 6 nodes that cannot be converted:
// CHECK-NEXT: Frobnicate (opset 20) at 'frob': the operator is not supported
// CHECK-NEXT: com.example.Gelu (opset 1) at 'gelu': the operator is not supported
// CHECK-NEXT: LpNormalization (opset 20) at 'norm': attribute p = 3 is not supported
// CHECK-NEXT: Whirl (opset 20) at 'whirl': the operator is not supported
// CHECK-NEXT: Twirl (opset 20) at 'twirl': the operator is not supported
// CHECK-NEXT: LpNormalization (opset 20) at 'behind': attribute p = 3 is not supported
// CHECK-NEXT: docs/onnx-operators.md
// CHECK-NOT: Relu (opset
onnx.graph @g(%x: tensor<1x2x4x4xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64, com.example = 1 : i64}, outputNames = ["y"]} {
  %a = onnx.node "Frobnicate"(%x) : (tensor<1x2x4x4xf32>) -> !onnx.unknown loc("frob")
  %b = onnx.node "Relu"(%a) : (!onnx.unknown) -> !onnx.unknown
  %c = onnx.node "Gelu" in "com.example" (%x) : (tensor<1x2x4x4xf32>) -> !onnx.unknown loc("gelu")
  %d = onnx.node "LpNormalization"(%x) {p = 3 : i64} : (tensor<1x2x4x4xf32>) -> !onnx.unknown loc("norm")
  %e = onnx.node "Whirl"(%b) : (!onnx.unknown) -> !onnx.unknown loc("whirl")
  %f = onnx.node "Twirl"(%e) : (!onnx.unknown) -> tensor<1x2x4x4xf32> loc("twirl")
  %h = onnx.node "LpNormalization"(%f) {p = 3 : i64} : (tensor<1x2x4x4xf32>) -> !onnx.unknown loc("behind")
  onnx.return %b : !onnx.unknown
}
