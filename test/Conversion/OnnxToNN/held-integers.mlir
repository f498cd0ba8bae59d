// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn | FileCheck %s

// Inputs of 8 and 16 bits are held in 32 bits, uint32 in 64. Constants that are
// computed with are widened, and results wrap around as their types do.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%[[A:.*]]: tensor<2xi32> {{.*}}, %[[U:.*]]: tensor<2xi64> {{.*}}, %[[I:.*]]: tensor<3xi64>
// CHECK: %[[TABLE:.*]] = arith.constant dense<{{\[\[}}-1, 2], [3, -4]]> : tensor<2x2xi32>
// CHECK: nn.take %[[TABLE]], %[[I]]
// CHECK: %[[SUM:.*]] = arith.addi %[[A]], %{{.*}} : tensor<2xi32>
// CHECK: %[[C24:.*]] = arith.constant dense<24> : tensor<2xi32>
// CHECK: %[[HIGH:.*]] = arith.shli %[[SUM]], %[[C24]]
// CHECK: arith.shrsi %[[HIGH]], %[[C24]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[U]], %[[U]] : tensor<2xi64>
// CHECK: arith.andi %[[PRODUCT]]
onnx.graph @g(%a: tensor<2xi8>, %u: tensor<2xui32>, %i: tensor<3xi64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["a", "u", "i"], opsets = {ai.onnx = 20 : i64}, outputNames = ["taken", "sum", "product"]} {
  %table = onnx.initializer "table" = dense<[[-1, 2], [3, -4]]> : tensor<2x2xi8>
  %few = onnx.initializer "few" = dense<[100, 1]> : tensor<2xi8>
  %taken = onnx.node "Gather"(%table, %i) : (tensor<2x2xi8>, tensor<3xi64>) -> !onnx.unknown
  %sum = onnx.node "Add"(%a, %few) : (tensor<2xi8>, tensor<2xi8>) -> !onnx.unknown
  %product = onnx.node "Mul"(%u, %u) : (tensor<2xui32>, tensor<2xui32>) -> !onnx.unknown
  onnx.return %taken, %sum, %product : !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// A zero point that is an input says by its declared type where results end.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: (%{{.*}}: tensor<2xf32> {{.*}}, %[[ZERO:.*]]: tensor<i32>
// CHECK: arith.sitofp %[[ZERO]]
// CHECK: arith.constant dense<-1.280000e+02>
// CHECK: arith.constant dense<1.270000e+02>
onnx.graph @g(%x: tensor<2xf32>, %zero: tensor<i8>) -> (!onnx.unknown) attributes {inputNames = ["x", "zero"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %scale = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %y = onnx.node "QuantizeLinear"(%x, %scale, %zero) : (tensor<2xf32>, tensor<f32>, tensor<i8>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
