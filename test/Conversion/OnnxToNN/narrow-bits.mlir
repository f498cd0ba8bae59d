// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Bytes that are held in 32 bits keep 8 bits where bits are moved or inverted,
// whether the file gives the type of the result or of the operand alone.
// CHECK: %[[BYTE:.*]] = arith.andi %arg0, %{{.*}} : tensor<2xi32>
// CHECK: arith.shli %[[BYTE]]
// CHECK: %[[SHIFTED:.*]] = arith.select
// CHECK: %[[A:.*]] = arith.andi %[[SHIFTED]], %{{.*}} : tensor<2xi32>
// CHECK: %[[INVERTED:.*]] = arith.xori %[[BYTE]]
// CHECK: %[[B:.*]] = arith.andi %[[INVERTED]], %{{.*}} : tensor<2xi32>
// CHECK: return %[[A]], %[[B]]
onnx.graph @g(%x: tensor<2xi32>) -> (tensor<2xui8>, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %byte = onnx.node "Cast"(%x) {to = 2 : i64} : (tensor<2xi32>) -> !onnx.unknown
  %a = onnx.node "BitShift"(%byte, %byte) {direction = "LEFT"} : (!onnx.unknown, !onnx.unknown) -> tensor<2xui8>
  %b = onnx.node "BitwiseNot"(%byte) : (!onnx.unknown) -> !onnx.unknown
  onnx.return %a, %b : tensor<2xui8>, !onnx.unknown
}
