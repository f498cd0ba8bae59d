// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

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
