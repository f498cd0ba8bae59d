// RUN: gpuopt-opt %s -convert-onnx-to-nn -verify-nn | FileCheck %s

// A sequence that is longer than 64 steps is a loop. What depends on no step,
// as the part of the weights that a gate reads, is computed before it.
// CHECK-LABEL: func.func @forward
// CHECK: %[[AHEAD:.*]] = nn.contract "tbi,gi->tbg" %[[X:.*]], %{{.*}} : tensor<65x4x5xf32>, tensor<9x5xf32>
// CHECK: %[[TWO:.*]] = nn.slice %{{.*}} [0, 0] [6, 3] [1, 1] : tensor<9x3xf32>
// CHECK: %[[LAST:.*]] = nn.slice %{{.*}} [6, 0] [3, 3] [1, 1] : tensor<9x3xf32>
// CHECK: %[[H:.*]] = nn.scan 65 reverse slices(%[[AHEAD]]) states(%{{.*}}) invariants(%[[TWO]], %[[LAST]])
// CHECK-NEXT: ^bb0(%[[XI:.*]]: tensor<4x9xf32>, %[[HI:.*]]: tensor<4x3xf32>, %[[TWOI:.*]]: tensor<6x3xf32>, %[[LASTI:.*]]: tensor<3x3xf32>):
// CHECK: nn.contract "bh,gh->bg" %[[HI]], %[[TWOI]]
// CHECK: nn.contract "bh,gh->bg" %{{.*}}, %[[LASTI]]
// CHECK: nn.yield %{{.*}} : tensor<4x3xf32>
// The loop begins at the end: entry i of the history is the state after step i.
// CHECK: %[[STATES:.*]] = nn.slice %[[H]] [0, 0, 0] [65, 4, 3] [1, 1, 1]
// CHECK: %[[Y:.*]] = nn.reshape %[[STATES]] : tensor<65x4x3xf32> to tensor<65x1x4x3xf32>
// CHECK: return %[[Y]]
onnx.graph @g(%x: tensor<65x4x5xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" at <"w.bin", offset = 0, size = 180> : tensor<1x9x5xf32>
  %r = onnx.initializer "r" at <"w.bin", offset = 180, size = 108> : tensor<1x9x3xf32>
  %y = onnx.node "GRU"(%x, %w, %r) {direction = "reverse", hidden_size = 3 : i64} : (tensor<65x4x5xf32>, tensor<1x9x5xf32>, tensor<1x9x3xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
