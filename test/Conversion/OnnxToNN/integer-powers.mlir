// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Powers of integers are rounded before they are integers again; those of
// fractional exponents are cut off, unless they are whole but for rounding.
// CHECK: %[[POWERS:.*]] = math.powf
// CHECK: %[[WHOLE:.*]] = math.roundeven %[[POWERS]] : tensor<3xf64>
// CHECK: arith.fptosi %[[WHOLE]] : tensor<3xf64> to tensor<3xi64>
// CHECK: %[[ROOTS:.*]] = math.powf
// CHECK: %[[NEAREST:.*]] = math.roundeven %[[ROOTS]]
// CHECK: %[[DISTANCE:.*]] = arith.subf %[[ROOTS]], %[[NEAREST]]
// CHECK: %[[CUT:.*]] = arith.select %{{.*}}, %[[NEAREST]], %[[ROOTS]]
// CHECK: arith.fptosi %[[CUT]] : tensor<3xf64> to tensor<3xi64>
onnx.graph @g(%x: tensor<3xi64>, %e: tensor<3xi64>, %f: tensor<3xf32>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "e", "f"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b"]} {
  %a = onnx.node "Pow"(%x, %e) : (tensor<3xi64>, tensor<3xi64>) -> !onnx.unknown
  %b = onnx.node "Pow"(%x, %f) : (tensor<3xi64>, tensor<3xf32>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}
