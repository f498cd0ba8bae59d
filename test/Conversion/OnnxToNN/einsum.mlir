// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// One product for what sums over a common letter; `i`, which only the left
// operand has, is summed before it.
// CHECK: %[[SUM:.*]] = nn.reduce sum %arg0 [1] : tensor<2x3x4xf32>
// CHECK: %[[LEFT:.*]] = nn.reshape %[[SUM]] : tensor<2x1x4xf32> to tensor<2x4xf32>
// CHECK: nn.contract "ab,acb->ac" %[[LEFT]], %arg1

// Nothing is summed over: elementwise work.
// CHECK-NOT: nn.contract
// CHECK: arith.mulf
onnx.graph @g(%x: tensor<2x3x4xf32>, %y: tensor<2x5x4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "y"], opsets = {ai.onnx = 20 : i64}, outputNames = ["z", "outer"]} {
  %0 = onnx.node "Einsum"(%x, %y) {equation = "bik, bjk -> bj"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> !onnx.unknown
  %1 = onnx.node "Einsum"(%x, %y) {equation = "bik,bjk->bijk"} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>) -> !onnx.unknown
  onnx.return %0, %1 : !onnx.unknown, !onnx.unknown
}
