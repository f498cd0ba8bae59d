// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// All inputs are multiplied at once, with both biases added; then each step
// takes its part and multiplies the state before it. The reverse direction
// begins at the end.
// CHECK-LABEL: func.func @forward
// CHECK: %[[PRODUCT:.*]] = nn.contract "tbi,gi->tbg" %[[X:.*]], %{{.*}} : tensor<2x4x5xf32>, tensor<3x5xf32>
// CHECK: %[[BIASES:.*]] = arith.addf %{{.*}}, %{{.*}} : tensor<3xf32>
// CHECK: %[[WIDE:.*]] = nn.broadcast %[[BIASES]] : tensor<3xf32> to tensor<2x4x3xf32>
// CHECK: %[[AHEAD:.*]] = arith.addf %[[PRODUCT]], %[[WIDE]]
// CHECK: %[[LAST:.*]] = nn.slice %[[AHEAD]] [1, 0, 0] [1, 4, 3] [1, 1, 1]
// CHECK: %[[IN:.*]] = nn.reshape %[[LAST]] : tensor<1x4x3xf32> to tensor<4x3xf32>
// CHECK: %[[RECURRENT:.*]] = nn.contract "bh,gh->bg" %{{.*}}, %[[R:.*]] : tensor<4x3xf32>, tensor<3x3xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[IN]], %[[RECURRENT]]
// CHECK: %[[STATE:.*]] = math.tanh %[[SUM]]
// CHECK: %[[SECOND:.*]] = nn.reshape %[[STATE]] : tensor<4x3xf32> to tensor<1x1x4x3xf32>
// CHECK: nn.slice %[[AHEAD]] [0, 0, 0] [1, 4, 3] [1, 1, 1]
// CHECK: nn.contract "bh,gh->bg" %[[STATE]], %[[R]]
// CHECK: %[[FIRST:.*]] = nn.reshape %{{.*}} : tensor<4x3xf32> to tensor<1x1x4x3xf32>
// CHECK: %[[Y:.*]] = nn.concat %[[FIRST]], %[[SECOND]] dim 0
// CHECK: return %[[Y]]
onnx.graph @g(%x: tensor<2x4x5xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" at <"w.bin", offset = 0, size = 60> : tensor<1x3x5xf32>
  %r = onnx.initializer "r" at <"w.bin", offset = 60, size = 36> : tensor<1x3x3xf32>
  %b = onnx.initializer "b" at <"w.bin", offset = 96, size = 24> : tensor<1x6xf32>
  %y = onnx.node "RNN"(%x, %w, %r, %b) {direction = "reverse", hidden_size = 3 : i64} : (tensor<2x4x5xf32>, tensor<1x3x5xf32>, tensor<1x3x3xf32>, tensor<1x6xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
