// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// What would take the compiler too long, or too much memory.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: NonZero (opset 23) at 'found': the compiler would go through 1099511627776 elements one by one, but does so for at most 16777216
// CHECK-NEXT: Unique (opset 23) at 'unique': the compiler would go through 1099511627776 elements
// CHECK-NEXT: EyeLike (opset 23) at 'eye': the compiler would go through 1099511627776 elements
// CHECK-NEXT: Pad (opset 23) at 'mirrored': the compiler would go through 1099511627780 elements
// CHECK-NEXT: Trilu (opset 23) at 'triangle': the compiler would go through 1099511627776 elements
// CHECK-NEXT: Pad (opset 23) at 'padded': the compiler would go through 1099511627777 elements
// CHECK-NEXT: CenterCropPad (opset 23) at 'surrounded': the compiler would go through 1099511627776 elements
// CHECK-NEXT: Resize (opset 23) at 'filtered': a dimension of 4 elements is too large to be resized to 8000000 in this way
// CHECK-NEXT: GridSample (opset 23) at 'sampled': each result reads 4^6 elements, but at most 1024 are supported
// CHECK-NEXT: ScatterND (opset 23) at 'scalar': operand and indices must have rank 1 or more
// CHECK-NEXT: Gather (opset 23) at 'rows': the result has more than 2^48 elements
// CHECK-NEXT: MatMul (opset 23) at 'outer': the result has more than 2^48 elements
// CHECK-NEXT: Add (opset 23) at 'spread': the result has more than 2^48 elements
// CHECK-NEXT: Einsum (opset 23) at 'all_pairs': the result has more than 2^48 elements
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%v: tensor<4xf32>, %s: tensor<f32>, %n: tensor<1x1xi64>, %image: tensor<1x1x2x2x2x2x2x2xf32>, %grid: tensor<1x1x1x1x1x1x1x6xf32>, %tall: tensor<4294967296x1xf32>, %flat: tensor<1x4294967296xf32>, %places: tensor<4294967296xi64>) -> !onnx.unknown attributes {inputNames = ["v", "s", "n", "image", "grid", "tall", "flat", "places"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %many = onnx.initializer "many" = dense<1099511627776> : tensor<1xi64>
  %square = onnx.initializer "square" = dense<1048576> : tensor<2xi64>
  %pads = onnx.initializer "pads" = dense<[0, 1099511627776]> : tensor<2xi64>
  %0 = onnx.node "ConstantOfShape"(%many) : (tensor<1xi64>) -> !onnx.unknown loc("zeros")
  %1 = onnx.node "NonZero"(%0) : (!onnx.unknown) -> !onnx.unknown loc("found")
  %2 = onnx.node "Unique"(%0) : (!onnx.unknown) -> !onnx.unknown loc("unique")
  %3 = onnx.node "ConstantOfShape"(%square) : (tensor<2xi64>) -> !onnx.unknown loc("matrix")
  %4 = onnx.node "EyeLike"(%3) {dtype = 7 : i64} : (!onnx.unknown) -> !onnx.unknown loc("eye")
  %5 = onnx.node "Pad"(%v, %pads) {mode = "reflect"} : (tensor<4xf32>, tensor<2xi64>) -> !onnx.unknown loc("mirrored")
  %integers = onnx.node "ConstantOfShape"(%square) {value = dense<1> : tensor<1xi64>} : (tensor<2xi64>) -> !onnx.unknown loc("integers")
  %triangle = onnx.node "Trilu"(%integers) : (!onnx.unknown) -> !onnx.unknown loc("triangle")
  %one = onnx.initializer "one" = dense<1> : tensor<1xi64>
  %padded = onnx.node "Pad"(%one, %pads) : (tensor<1xi64>, tensor<2xi64>) -> !onnx.unknown loc("padded")
  %surrounded = onnx.node "CenterCropPad"(%one, %many) : (tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown loc("surrounded")
  %none = onnx.none : none
  %wide = onnx.initializer "wide" = dense<8000000> : tensor<1xi64>
  %filtered = onnx.node "Resize"(%v, %none, %none, %wide) {mode = "linear", antialias = 1 : i64} : (tensor<4xf32>, none, none, tensor<1xi64>) -> !onnx.unknown loc("filtered")
  %6 = onnx.node "GridSample"(%image, %grid) {mode = "cubic"} : (tensor<1x1x2x2x2x2x2x2xf32>, tensor<1x1x1x1x1x1x1x6xf32>) -> !onnx.unknown loc("sampled")
  %7 = onnx.node "ScatterND"(%s, %n, %v) : (tensor<f32>, tensor<1x1xi64>, tensor<4xf32>) -> !onnx.unknown loc("scalar")
  // 2^64 elements, whose number would be 0 in 64 bits.
  %rows = onnx.node "Gather"(%tall, %places) {axis = 1 : i64} : (tensor<4294967296x1xf32>, tensor<4294967296xi64>) -> !onnx.unknown loc("rows")
  %outer = onnx.node "MatMul"(%tall, %flat) : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> !onnx.unknown loc("outer")
  %spread = onnx.node "Add"(%tall, %flat) : (tensor<4294967296x1xf32>, tensor<1x4294967296xf32>) -> !onnx.unknown loc("spread")
  %all_pairs = onnx.node "Einsum"(%tall, %tall) {equation = "ab,cb->ac"} : (tensor<4294967296x1xf32>, tensor<4294967296x1xf32>) -> !onnx.unknown loc("all_pairs")
  onnx.return %1 : !onnx.unknown
}
