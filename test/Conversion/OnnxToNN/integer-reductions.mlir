// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Reductions of integers are computed in double. The largest of 64 bits, which
// double rounds to 2^63, is that one again.
// CHECK-LABEL: func.func @forward
// CHECK: %[[MIN:.*]] = nn.reduce {{ *}}min {{.*}} : tensor<2x3xf64>
// CHECK: %[[CUT:.*]] = arith.fptosi %[[MIN]] : tensor<2x1xf64> to tensor<2x1xi64>
// CHECK: %[[BOUND:.*]] = arith.constant dense<9.2233720368547758E+18> : tensor<2x1xf64>
// CHECK: %[[IS:.*]] = arith.cmpf oge, %[[MIN]], %[[BOUND]]
// CHECK: %[[LARGEST:.*]] = arith.constant dense<9223372036854775807> : tensor<2x1xi64>
// CHECK: arith.select %[[IS]], %[[LARGEST]], %[[CUT]]
// Sums of 32 bits wrap.
// CHECK: %[[WIDE:.*]] = arith.fptosi %{{.*}} : tensor<2x1xf64> to tensor<2x1xi64>
// CHECK: arith.trunci %[[WIDE]] : tensor<2x1xi64> to tensor<2x1xi32>
// CHECK: %[[SUMS:.*]] = arith.fptosi %{{.*}} : tensor<2x3xf64> to tensor<2x3xi64>
// CHECK: arith.trunci %[[SUMS]] : tensor<2x3xi64> to tensor<2x3xi32>
onnx.graph @g(%x: tensor<2x3xi64>, %y: tensor<2x3xi32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "y"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c"]} {
  %axes = onnx.initializer "axes" = dense<1> : tensor<1xi64>
  %axis = onnx.initializer "axis" = dense<1> : tensor<i64>
  %a = onnx.node "ReduceMin"(%x, %axes) : (tensor<2x3xi64>, tensor<1xi64>) -> !onnx.unknown
  %b = onnx.node "ReduceSum"(%y, %axes) : (tensor<2x3xi32>, tensor<1xi64>) -> !onnx.unknown
  %c = onnx.node "CumSum"(%y, %axis) : (tensor<2x3xi32>, tensor<i64>) -> !onnx.unknown
  onnx.return %a, %b, %c : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
