// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --mlir-print-op-generic | gpuopt-opt | FileCheck %s

// CHECK-LABEL: onnx.graph @net(
// CHECK-SAME:    %[[X:.*]]: tensor<4x3x8x8xf32>) -> (tensor<4x16x8x8xf32>, !onnx.unknown)
// CHECK-SAME:    attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64, com.microsoft = 1 : i64}, outputNames = ["y", "z"]} {
onnx.graph @net(%x: tensor<4x3x8x8xf32>) -> (tensor<4x16x8x8xf32>, !onnx.unknown)
    attributes {inputNames = ["x"], outputNames = ["y", "z"], opsets = {ai.onnx = 20, com.microsoft = 1}} {
  // CHECK: %[[W:.*]] = onnx.initializer "conv.weight" at <"net.onnx", offset = 96, size = 1728> : tensor<16x3x3x3xf32>
  %w = onnx.initializer "conv.weight" at <"net.onnx", offset = 96, size = 1728> : tensor<16x3x3x3xf32>
  // CHECK: %[[B:.*]] = onnx.initializer "b" = dense<5.000000e-01> : tensor<16xf32>
  %b = onnx.initializer "b" = dense<0.5> : tensor<16xf32>
  // CHECK: onnx.initializer "inv_freq" constant true trained false = dense<5.000000e-01> : tensor<2xf32>
  %f = onnx.initializer "inv_freq" constant true trained false = dense<0.5> : tensor<2xf32>
  // CHECK: onnx.initializer "temperature" constant false trained false = dense<2.000000e+00> : tensor<f32>
  %t = onnx.initializer "temperature" constant false trained false = dense<2.0> : tensor<f32>
  // CHECK: %[[NONE:.*]] = onnx.none : none
  %none = onnx.none : none
  // CHECK: %[[Y:.*]] = onnx.node "Conv"(%[[X]], %[[W]], %[[NONE]]) {group = 1 : i64, pads = array<i64: 1, 1, 1, 1>} as ["y"]
  // CHECK-SAME: : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>, none) -> tensor<4x16x8x8xf32>
  %y = onnx.node "Conv"(%x, %w, %none) {group = 1, pads = array<i64: 1, 1, 1, 1>} as ["y"]
    : (tensor<4x3x8x8xf32>, tensor<16x3x3x3xf32>, none) -> tensor<4x16x8x8xf32>
  // CHECK: %[[Z:.*]] = onnx.node "BiasGelu" in "com.microsoft"(%[[Y]], %[[B]]) : (tensor<4x16x8x8xf32>, tensor<16xf32>) -> !onnx.unknown
  %z = onnx.node "BiasGelu" in "com.microsoft"(%y, %b) : (tensor<4x16x8x8xf32>, tensor<16xf32>) -> !onnx.unknown
  // CHECK: onnx.return %[[Y]], %[[Z]] : tensor<4x16x8x8xf32>, !onnx.unknown
  onnx.return %y, %z : tensor<4x16x8x8xf32>, !onnx.unknown
}

// Every kind of attribute.
// CHECK-LABEL: onnx.graph @attributes() attributes
onnx.graph @attributes() attributes {inputNames = [], outputNames = [], opsets = {ai.onnx = 20}} {
  // CHECK: onnx.node "Custom"() {
  // CHECK-SAME: float = 1.000000e+00 : f32, floats = array<f32: 1.000000e+00, 2.000000e+00>, int = 7 : i64, ints = array<i64>,
  // CHECK-SAME: string = "a", strings = ["a", "b"], tensor = dense<1> : tensor<2xi64>, tensors = [dense<true> : tensor<i1>]} : () -> ()
  onnx.node "Custom"() {float = 1.0 : f32, floats = array<f32: 1.0, 2.0>, int = 7, ints = array<i64>,
    string = "a", strings = ["a", "b"], tensor = dense<1> : tensor<2xi64>, tensors = [dense<true> : tensor<i1>]} : () -> ()
  // CHECK: onnx.return
  onnx.return
}

// Graphs inside of nodes read what is around them.
// CHECK-LABEL: onnx.graph @graphs
onnx.graph @graphs(%c: tensor<i1>, %x: tensor<4xf32>) -> !onnx.unknown attributes {inputNames = ["c", "x"], opsets = {ai.onnx = 20}, outputNames = ["y"]} {
  // CHECK: %y = onnx.node "If"(%c) {else_branch, then_branch} as ["y"] : (tensor<i1>) -> !onnx.unknown {
  // CHECK-NEXT: onnx.return %x
  // CHECK-NEXT: }, {
  // CHECK-NEXT: %e = onnx.node "Exp"(%x)
  // CHECK-NEXT: onnx.return %e
  // CHECK-NEXT: }
  %y = onnx.node "If"(%c) {else_branch, then_branch} as ["y"] : (tensor<i1>) -> !onnx.unknown {
    onnx.return %x : tensor<4xf32>
  }, {
    %e = onnx.node "Exp"(%x) as ["e"] : (tensor<4xf32>) -> tensor<4xf32>
    onnx.return %e : tensor<4xf32>
  }
  onnx.return %y : !onnx.unknown
}

// Values print under their names in the file, where these are valid.
// RUN: gpuopt-opt %s | FileCheck %s --check-prefix=NAMES
// NAMES: onnx.graph @net(%x:
// NAMES: %conv.weight = onnx.initializer
// NAMES: %none = onnx.none
// NAMES: %y = onnx.node "Conv"(%x, %conv.weight, %none)
// NAMES: %layer1.Relu_output_0 = onnx.node "Relu"
onnx.graph @slashes() attributes {inputNames = [], outputNames = [], opsets = {ai.onnx = 20}} {
  %0 = onnx.node "Relu"() as ["/layer1/Relu_output_0"] : () -> !onnx.unknown
  onnx.return
}
