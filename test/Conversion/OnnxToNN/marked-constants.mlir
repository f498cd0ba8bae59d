// RUN: gpuopt-opt %s -convert-onnx-to-nn="trained-params=^learnt" | FileCheck %s --implicit-check-not=train.variable
// RUN: gpuopt-opt %s -convert-onnx-to-nn="stored-weights=rotary.scale,other" | FileCheck %s --check-prefix=STORED

// What the file says is a constant of the program is no variable, also a single
// number that is called as a weight. It folds: here, the rows that are taken.
// A running statistic, which training changes, is one all the same, and so is
// what --trained-params names.
// CHECK-DAG: train.variable @mean buffer : tensor<2xf32>
// CHECK-DAG: train.variable @var buffer : tensor<2xf32>
// CHECK-DAG: train.variable @learnt parameter : tensor<2xf32>
// CHECK-DAG: arith.constant dense<{{\[\[}}5.000000e+00, 6.000000e+00], {{.*}} : tensor<3x2xf32>
// CHECK-DAG: arith.constant dense<5.000000e-01> : tensor<3x2xf32>
// So is what a training has saved.
// STORED: train.variable @rotary.scale frozen : tensor<f32>
// STORED-NOT: train.variable @learnt
onnx.graph @g(%x: tensor<3x2xf32>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %table = onnx.initializer "table" constant true trained false = dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %scale = onnx.initializer "rotary.scale" constant true trained false = dense<0.5> : tensor<f32>
  %learnt = onnx.initializer "learnt" constant true trained false = dense<[8.0, 9.0]> : tensor<2xf32>
  %mean = onnx.initializer "mean" constant true trained false = dense<[1.0, 7.0]> : tensor<2xf32>
  %var = onnx.initializer "var" constant true trained false = dense<[7.0, 1.0]> : tensor<2xf32>
  %last = onnx.initializer "last" = dense<2> : tensor<i64>
  %row = onnx.node "Gather"(%table, %last) : (tensor<3x2xf32>, tensor<i64>) -> !onnx.unknown
  %n = onnx.node "BatchNormalization"(%x, %learnt, %learnt, %mean, %var) : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !onnx.unknown
  %s = onnx.node "Mul"(%n, %scale) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  %y = onnx.node "Add"(%s, %row) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
