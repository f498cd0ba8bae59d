// RUN: gpuopt-opt %s --split-input-file -convert-onnx-to-nn | FileCheck %s

// The logarithm of a sigmoid is -softplus(-x); that of something else stays.
// CHECK-LABEL: func.func @forward
// CHECK: %[[N:.*]] = arith.negf %arg0 : tensor<3xf32>
// CHECK: %[[E:.*]] = math.exp %{{.*}}
// CHECK: %[[L:.*]] = math.log1p %[[E]]
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[L]]
// CHECK: %[[A:.*]] = arith.negf %[[SUM]]
// CHECK: %[[B:.*]] = math.log %arg0
// CHECK: return %[[A]], %[[B]]
onnx.graph @g(%x: tensor<3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %s = onnx.node "Sigmoid"(%x) : (tensor<3xf32>) -> !onnx.unknown
  %a = onnx.node "Log"(%s) : (!onnx.unknown) -> !onnx.unknown
  %b = onnx.node "Log"(%x) : (tensor<3xf32>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}

// -----

// A sigmoid that is spelled out is no node Sigmoid: its logarithm stays.
// CHECK-LABEL: func.func @forward
// CHECK-NOT: math.log1p
// CHECK: %[[Q:.*]] = arith.divf
// CHECK: %[[L:.*]] = math.log %[[Q]]
// CHECK: return %[[L]]
onnx.graph @g(%x: tensor<3xf32>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a"]} {
  %one = onnx.initializer "one" = dense<1.0> : tensor<f32>
  %n = onnx.node "Neg"(%x) : (tensor<3xf32>) -> !onnx.unknown
  %e = onnx.node "Exp"(%n) : (!onnx.unknown) -> !onnx.unknown
  %d = onnx.node "Add"(%one, %e) : (tensor<f32>, !onnx.unknown) -> !onnx.unknown
  %q = onnx.node "Div"(%one, %d) : (tensor<f32>, !onnx.unknown) -> !onnx.unknown
  %a = onnx.node "Log"(%q) : (!onnx.unknown) -> !onnx.unknown
  onnx.return %a : !onnx.unknown
}

// -----

// That of a sigmoid outside of the branch that takes the logarithm.
// CHECK-LABEL: func.func @forward
// CHECK: math.log1p
// CHECK-NOT: math.log %
onnx.graph @g(%x: tensor<3xf32>, %c: tensor<i1>) -> (!onnx.unknown) attributes {inputNames = ["x", "c"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a"]} {
  %s = onnx.node "Sigmoid"(%x) : (tensor<3xf32>) -> !onnx.unknown
  %a = onnx.node "If"(%c) {else_branch, then_branch} : (tensor<i1>) -> !onnx.unknown {
    onnx.return %s : !onnx.unknown
  }, {
    %l = onnx.node "Log"(%s) : (!onnx.unknown) -> !onnx.unknown
    onnx.return %l : !onnx.unknown
  }
  onnx.return %a : !onnx.unknown
}
