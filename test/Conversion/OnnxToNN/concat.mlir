// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// A concatenation that begins as earlier ones do reads the longest of them, and
// one that is equal is that one.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TWO:.*]] = nn.concat %arg0, %arg1 dim 1 : tensor<2x3xf32>, tensor<2x4xf32>
// CHECK: %[[THREE:.*]] = nn.concat %[[TWO]], %arg0 dim 1 : tensor<2x7xf32>, tensor<2x3xf32>
// CHECK: %[[FIVE:.*]] = nn.concat %[[THREE]], %arg1, %arg1 dim 1
// Neither one along another dimension, nor one that ends as this, nor one of
// integers, does.
// CHECK: nn.concat %arg0, %arg0 dim 0
// CHECK: nn.concat %arg0, %arg0, %arg1 dim 1
// CHECK: nn.concat %arg2, %arg2 dim 0
// CHECK: nn.concat %arg2, %arg2, %arg2 dim 0
// CHECK: return {{.*}}%[[TWO]], %[[THREE]], %[[FIVE]], %[[THREE]]
onnx.graph @g(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>, %i: tensor<2xi64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "y", "i"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d", "e", "f", "g", "h"]} {
  %a = onnx.node "Concat"(%x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>) -> !onnx.unknown
  %b = onnx.node "Concat"(%x, %y, %x) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> !onnx.unknown
  %c = onnx.node "Concat"(%x, %y, %x, %y, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> !onnx.unknown
  %d = onnx.node "Concat"(%x, %y, %x) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x3xf32>) -> !onnx.unknown
  %e = onnx.node "Concat"(%x, %x) {axis = 0 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown
  %f = onnx.node "Concat"(%x, %x, %y) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x4xf32>) -> !onnx.unknown
  %g = onnx.node "Concat"(%i, %i) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>) -> !onnx.unknown
  %h = onnx.node "Concat"(%i, %i, %i) {axis = 0 : i64} : (tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d, %e, %f, %g, %h : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
