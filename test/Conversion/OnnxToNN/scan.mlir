// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Triangles and running sums of constants are constants.
// CHECK-DAG: arith.constant dense<{{\[\[}}5, 1, 2], [0, 5, 1]]> : tensor<2x3xi64>
// CHECK-DAG: arith.constant dense<{{\[\[}}0, 0, 0], [5, 1, 2]]> : tensor<2x3xi64>
// CHECK-DAG: arith.constant dense<{{\[\[}}8, 3, 2], [10, 6, 1]]> : tensor<2x3xi64>

// A long dimension is summed in chunks of 128: 300 are 3, the last one filled
// up with zeros.
// CHECK: %[[X:.*]] = nn.reshape %{{.*}} : tensor<384xf32> to tensor<3x128xf32>
// CHECK: %[[WITHIN:.*]] = nn.contract "ab,bz->az" %[[X]], %{{.*}} : tensor<3x128xf32>, tensor<128x128xf32>
// CHECK: nn.reduce sum %[[X]] [1]
// CHECK: %[[BEFORE:.*]] = nn.contract "ab,az->zb" %{{.*}}, %{{.*}} : tensor<3x1xf32>, tensor<3x3xf32>
// CHECK: nn.slice %{{.*}} [0] [300] [1] : tensor<384xf32>
onnx.graph @g(%x: tensor<300xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %table = onnx.initializer "table" = dense<[[5, 1, 2], [4, 5, 1]]> : tensor<2x3xi64>
  %first = onnx.initializer "first" = dense<0> : tensor<i64>
  %last = onnx.initializer "last" = dense<-1> : tensor<i64>
  %a = onnx.node "Trilu"(%table) : (tensor<2x3xi64>) -> !onnx.unknown
  %b = onnx.node "CumSum"(%table, %first) {exclusive = 1 : i64} : (tensor<2x3xi64>, tensor<i64>) -> !onnx.unknown
  %c = onnx.node "CumSum"(%table, %last) {reverse = 1 : i64} : (tensor<2x3xi64>, tensor<i64>) -> !onnx.unknown
  %d = onnx.node "CumSum"(%x, %first) : (tensor<300xf32>, tensor<i64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
