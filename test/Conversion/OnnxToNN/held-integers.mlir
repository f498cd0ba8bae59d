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

// Where the file gives no types, each result of a chain wraps around as the
// input does that it comes from, wherever that stands.
// CHECK-LABEL: func.func @forward
// CHECK: %[[TWICE:.*]] = arith.muli
// CHECK: %[[WRAPPED:.*]] = arith.andi %[[TWICE]]
// CHECK: %[[PRODUCT:.*]] = arith.muli %[[WRAPPED]]
// CHECK: arith.andi %[[PRODUCT]]
// CHECK: %[[DIFFERENCE:.*]] = arith.subi
// CHECK: arith.andi %[[DIFFERENCE]]
onnx.graph @g(%x: tensor<2xui8>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %two = onnx.initializer "two" = dense<2> : tensor<ui8>
  %many = onnx.initializer "many" = dense<[90, 100]> : tensor<2xui8>
  %twice = onnx.node "Mul"(%x, %two) : (tensor<2xui8>, tensor<ui8>) -> !onnx.unknown
  %same = onnx.node "Identity"(%twice) : (!onnx.unknown) -> !onnx.unknown
  %product = onnx.node "Mul"(%same, %same) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %y = onnx.node "Sub"(%many, %product) : (tensor<2xui8>, !onnx.unknown) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// CastLike takes the range of the type as Cast does.
// CHECK-LABEL: func.func @forward
// CHECK: %[[WIDE:.*]] = arith.extsi
// CHECK: arith.andi %[[WIDE]]
onnx.graph @g(%x: tensor<2xi32>, %u: tensor<2xui32>) -> (!onnx.unknown) attributes {inputNames = ["x", "u"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %y = onnx.node "CastLike"(%x, %u) : (tensor<2xi32>, tensor<2xui32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
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

// -----

// Constants of unsigned integers that are outputs have the type in which
// programs hold them.
// CHECK-LABEL: func.func @forward
// CHECK-SAME: -> (tensor<2xi64> {nn.name = "most"}, tensor<2xi64> {nn.name = "same"}, tensor<2xi32> {nn.name = "bytes"})
// CHECK-DAG: %[[MOST:.*]] = arith.constant dense<[1, 9223372036854775807]> : tensor<2xi64>
// CHECK-DAG: %[[SAME:.*]] = arith.constant dense<4294967295> : tensor<2xi64>
// CHECK-DAG: %[[BYTES:.*]] = arith.constant dense<[0, 255]> : tensor<2xi32>
// CHECK: return %[[MOST]], %[[SAME]], %[[BYTES]]
onnx.graph @constants() -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = [], opsets = {ai.onnx = 20 : i64}, outputNames = ["most", "same", "bytes"]} {
  %most = onnx.initializer "most" = dense<[1, 9223372036854775807]> : tensor<2xui64>
  %same = onnx.initializer "same" = dense<4294967295> : tensor<2xui32>
  %bytes = onnx.initializer "bytes" = dense<[0, 255]> : tensor<2xui8>
  %0 = onnx.node "Identity"(%most) : (tensor<2xui64>) -> !onnx.unknown
  %1 = onnx.node "Identity"(%same) : (tensor<2xui32>) -> !onnx.unknown
  %2 = onnx.node "Identity"(%bytes) : (tensor<2xui8>) -> !onnx.unknown
  onnx.return %0, %1, %2 : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
