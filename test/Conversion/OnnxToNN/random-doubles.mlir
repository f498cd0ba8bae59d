// RUN: gpuopt-opt %s -convert-onnx-to-nn -nn-decompose | FileCheck %s

// Kernels draw numbers in f32; those of double are extended.
// CHECK: %[[U:.*]] = nn.random_uniform stream 0 : tensor<4xf32>
// CHECK: arith.extf %[[U]] : tensor<4xf32> to tensor<4xf64>
// CHECK: %[[V:.*]] = nn.random_uniform stream 1 : tensor<4xf32>
// CHECK: arith.extf %[[V]] : tensor<4xf32> to tensor<4xf64>
// CHECK: %[[P:.*]] = nn.random_uniform stream 2 : tensor<4xf32>
// CHECK: %[[DRAW:.*]] = arith.extf %[[P]] : tensor<4xf32> to tensor<4xf64>
// CHECK: arith.cmpf olt, %[[DRAW]], %{{.*}} : tensor<4xf64>
// CHECK: %[[D:.*]] = nn.random_uniform stream 3 {{.*}}: tensor<4xf32>
// CHECK: %[[KEPT:.*]] = arith.extf %[[D]] : tensor<4xf32> to tensor<4xf64>
// CHECK: arith.cmpf oge, %[[KEPT]], %{{.*}} : tensor<4xf64>
// CHECK-NOT: nn.random_uniform {{.*}}f64
onnx.graph @g(%x: tensor<4xf64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 22 : i64}, outputNames = ["n", "b", "d"]} {
  %half = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %on = onnx.initializer "on" = dense<true> : tensor<i1>
  %n = onnx.node "RandomNormalLike"(%x) as ["n"] : (tensor<4xf64>) -> !onnx.unknown
  %b = onnx.node "Bernoulli"(%x) as ["b"] : (tensor<4xf64>) -> !onnx.unknown
  %d = onnx.node "Dropout"(%x, %half, %on) as ["d"] : (tensor<4xf64>, tensor<f32>, tensor<i1>) -> !onnx.unknown
  onnx.return %n, %b, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
