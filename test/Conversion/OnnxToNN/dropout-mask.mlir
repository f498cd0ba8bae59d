// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// The mask of a Dropout that drops is what is kept of ones; where nothing reads
// it, the operand is dropped from itself.
// CHECK-LABEL: func.func @forward
// CHECK: %[[KEPT:.*]] = nn.dropout %{{.*}} ratio 5.000000e-01 stream 0 : tensor<4xf32>
// CHECK: %[[MASK:.*]] = arith.cmpf ogt, %[[KEPT]], %{{.*}} : tensor<4xf32>
// CHECK: %[[Y:.*]] = arith.mulf %arg0, %[[KEPT]] : tensor<4xf32>
// CHECK: %[[Z:.*]] = arith.select %[[MASK]], %[[Y]], %{{.*}}
// CHECK: %[[PLAIN:.*]] = nn.dropout %[[Z]] ratio 5.000000e-01 stream 1 : tensor<4xf32>
// CHECK: return %[[PLAIN]], %[[MASK]]
onnx.graph @g(%x: tensor<4xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 22 : i64}, outputNames = ["y", "mask"]} {
  %half = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %on = onnx.initializer "on" = dense<true> : tensor<i1>
  %0, %mask = onnx.node "Dropout"(%x, %half, %on) as ["a", "mask"] : (tensor<4xf32>, tensor<f32>, tensor<i1>) -> (!onnx.unknown, !onnx.unknown)
  %1, %unused = onnx.node "Dropout"(%0, %half, %on) as ["b", "unused"] : (!onnx.unknown, tensor<f32>, tensor<i1>) -> (!onnx.unknown, !onnx.unknown)
  onnx.return %1, %mask : !onnx.unknown, !onnx.unknown
}
