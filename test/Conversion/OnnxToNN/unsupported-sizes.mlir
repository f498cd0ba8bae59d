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
// CHECK-NEXT: Reshape (opset 23) at 'shape': the compiler would go through 68719476736 elements one by one
// CHECK-NEXT: Unsqueeze (opset 23) at 'axes': the compiler would go through 68719476736 elements
// CHECK-NEXT: Resize (opset 23) at 'scales': the compiler would go through 68719476736 elements
// CHECK-NEXT: ReduceSum (opset 23) at 'total': the compiler would go through 68719476736 elements
// CHECK-NEXT: CumSum (opset 23) at 'running': the compiler would go through 68719476736 elements
// CHECK-NEXT: Compress (opset 23) at 'condition': the compiler would go through 68719476736 elements
// CHECK-NEXT: Compress (opset 23) at 'longer': the condition is longer than the dimension
// CHECK-NEXT: Slice (opset 23) at 'reversed': the compiler would go through 68719476736 elements
// CHECK-NEXT: SplitToSequence (opset 23) at 'ones': the operand would be split into 68719476736 parts, but at most 4096 are supported
// CHECK-NEXT: SplitToSequence (opset 23) at 'pairs': the operand would be split into 34359738368 parts
// CHECK-NEXT: SplitToSequence (opset 23) at 'nothings': the operand would be split into 5000 parts
// CHECK-NEXT: Split (opset 23) at 'outputs': attribute num_outputs = 68719476736 must equal the number of outputs, which is 1
// CHECK-NEXT: Resize (opset 23) at 'wide': the compiler would go through 2147483647 elements
// CHECK-NEXT: AveragePool (opset 23) at 'windows': the compiler would go through 274877906942 elements
// CHECK-NEXT: SpaceToDepth (opset 23) at 'no_blocks': attribute blocksize = 16777216 is too large for a dimension of 1048576
// CHECK-NEXT: Resize (opset 23) at 'no_rows': dimension 0 has no elements and cannot be resized to 5
// CHECK-NEXT: AveragePool (opset 23) at 'no_volumes': operand 0 of shape [0, 2, 1, 1, 1] has no elements, which windows over three dimensions need
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%v: tensor<4xf32>, %s: tensor<f32>, %n: tensor<1x1xi64>, %image: tensor<1x1x2x2x2x2x2x2xf32>, %grid: tensor<1x1x1x1x1x1x1x6xf32>, %tall: tensor<4294967296x1xf32>, %flat: tensor<1x4294967296xf32>, %places: tensor<4294967296xi64>, %line: tensor<68719476736xf32>, %flat_image: tensor<1x1048576x0x0xf32>, %tower: tensor<1x1x274877906944x4xf32>, %volumes: tensor<0x2x1x1x1xf32>) -> !onnx.unknown attributes {inputNames = ["v", "s", "n", "image", "grid", "tall", "flat", "places", "line", "flat_image", "tower", "volumes"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %zero = onnx.initializer "zero" = dense<0> : tensor<1xi64>
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
  // Constants that are small in the file, because all of their elements are equal.
  %length = onnx.initializer "length" = dense<68719476736> : tensor<1xi64>
  %trues = onnx.node "ConstantOfShape"(%length) {value = dense<true> : tensor<1xi1>} : (tensor<1xi64>) -> !onnx.unknown loc("trues")
  %units = onnx.node "ConstantOfShape"(%length) {value = dense<1> : tensor<1xi64>} : (tensor<1xi64>) -> !onnx.unknown loc("units")
  %floats = onnx.node "ConstantOfShape"(%length) {value = dense<1.0> : tensor<1xf32>} : (tensor<1xi64>) -> !onnx.unknown loc("floats")
  %first = onnx.initializer "first" = dense<0> : tensor<i64>
  %last = onnx.initializer "last" = dense<-1> : tensor<1xi64>
  %least = onnx.initializer "least" = dense<-9223372036854775807> : tensor<1xi64>
  %two = onnx.initializer "two" = dense<2> : tensor<i64>
  %nothings = onnx.initializer "nothings" = dense<0> : tensor<5000xi64>
  %far = onnx.initializer "far" = dense<2147483647> : tensor<1xi64>
  %8 = onnx.node "Reshape"(%v, %units) : (tensor<4xf32>, !onnx.unknown) -> !onnx.unknown loc("shape")
  %9 = onnx.node "Unsqueeze"(%v, %units) : (tensor<4xf32>, !onnx.unknown) -> !onnx.unknown loc("axes")
  %10 = onnx.node "Resize"(%v, %none, %floats) : (tensor<4xf32>, none, !onnx.unknown) -> !onnx.unknown loc("scales")
  %11 = onnx.node "ReduceSum"(%units) : (!onnx.unknown) -> !onnx.unknown loc("total")
  %12 = onnx.node "CumSum"(%units, %first) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown loc("running")
  %13 = onnx.node "Compress"(%line, %trues) : (tensor<68719476736xf32>, !onnx.unknown) -> !onnx.unknown loc("condition")
  %14 = onnx.node "Compress"(%v, %trues) : (tensor<4xf32>, !onnx.unknown) -> !onnx.unknown loc("longer")
  %15 = onnx.node "Slice"(%line, %last, %least, %zero, %last) : (tensor<68719476736xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown loc("reversed")
  %16 = onnx.node "SplitToSequence"(%line) : (tensor<68719476736xf32>) -> !onnx.unknown loc("ones")
  %17 = onnx.node "SplitToSequence"(%line, %two) : (tensor<68719476736xf32>, tensor<i64>) -> !onnx.unknown loc("pairs")
  %18 = onnx.node "SplitToSequence"(%v, %nothings) : (tensor<4xf32>, tensor<5000xi64>) -> !onnx.unknown loc("nothings")
  %19 = onnx.node "Split"(%line) {num_outputs = 68719476736 : i64} : (tensor<68719476736xf32>) -> !onnx.unknown loc("outputs")
  %20 = onnx.node "Resize"(%v, %none, %none, %far) : (tensor<4xf32>, none, none, tensor<1xi64>) -> !onnx.unknown loc("wide")
  %21 = onnx.node "AveragePool"(%tower) {kernel_shape = array<i64: 2, 2>, dilations = array<i64: 2, 1>} : (tensor<1x1x274877906944x4xf32>) -> !onnx.unknown loc("windows")
  // 2^68 channels.
  %22 = onnx.node "SpaceToDepth"(%flat_image) {blocksize = 16777216 : i64} : (tensor<1x1048576x0x0xf32>) -> !onnx.unknown loc("no_blocks")
  %five_volumes = onnx.initializer "five_volumes" = dense<[5, 2, 1, 1, 1]> : tensor<5xi64>
  %no_rows = onnx.node "Resize"(%volumes, %none, %none, %five_volumes) : (tensor<0x2x1x1x1xf32>, none, none, tensor<5xi64>) -> !onnx.unknown loc("no_rows")
  %no_volumes = onnx.node "AveragePool"(%volumes) {kernel_shape = array<i64: 1, 1, 1>} : (tensor<0x2x1x1x1xf32>) -> !onnx.unknown loc("no_volumes")
  onnx.return %1 : !onnx.unknown
}
