// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// NaN counts as infinite, whether elements are searched one after the other or
// all are sorted, so that what comes first does not depend on k.
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[X:.*]], %[[X]] : tensor<20xf32>
// CHECK: %[[NUMBERS:.*]] = arith.select %[[IS_NAN]], %{{.*}}, %[[X]]
// CHECK: nn.reduce max %[[NUMBERS]] [0]
// CHECK: %[[IS_NAN:.*]] = arith.cmpf uno, %[[X]], %[[X]] : tensor<20xf32>
// CHECK: %[[NUMBERS:.*]] = arith.select %[[IS_NAN]], %{{.*}}, %[[X]]
// CHECK: nn.argsort %[[NUMBERS]] descending
onnx.graph @g(%x: tensor<20xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 23 : i64}, outputNames = ["a", "b"]} {
  %few = onnx.initializer "few" = dense<2> : tensor<1xi64>
  %many = onnx.initializer "many" = dense<17> : tensor<1xi64>
  %0:2 = onnx.node "TopK"(%x, %few) : (tensor<20xf32>, tensor<1xi64>) -> (!onnx.unknown, !onnx.unknown)
  %1:2 = onnx.node "TopK"(%x, %many) : (tensor<20xf32>, tensor<1xi64>) -> (!onnx.unknown, !onnx.unknown)
  onnx.return %0#1, %1#1 : !onnx.unknown, !onnx.unknown
}
