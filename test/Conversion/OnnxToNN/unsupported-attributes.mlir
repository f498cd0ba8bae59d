// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// What an operator's attributes or operands ask for and gpuopt does not have,
// in one list.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: GroupNormalization (opset 23) at 'groups': attribute num_groups = 4 does not divide the channels
// CHECK-NEXT: GroupNormalization (opset 23) at 'scales': scale and bias must have one element per channel or per group, of the operand's type
// CHECK-NEXT: LpNormalization (opset 23) at 'lp': attribute p = 3 is not supported
// CHECK-NEXT: MeanVarianceNormalization (opset 23) at 'axes': attribute axes names dimension 1 twice
// CHECK-NEXT: Einsum (opset 23) at 'terms': the equation has 1 terms for 2 operands
// CHECK-NEXT: Einsum (opset 23) at 'rank': the equation's term 'ij' does not fit the rank 3 of operand 0
// CHECK-NEXT: Einsum (opset 23) at 'sizes': a letter of the equation has the sizes 6 and 4
// CHECK-NEXT: Einsum (opset 23) at 'result': the equation's result 'iz' is malformed
// CHECK-NEXT: Einsum (opset 23) at 'digit': the equation's term 'ij2' is malformed
// CHECK-NEXT: Resize (opset 23) at 'mode': attribute coordinate_transformation_mode = 'far' is not supported
// CHECK-NEXT: Resize (opset 23) at 'crop': tf_crop_and_resize is supported only with mode linear or cubic, without antialias
// CHECK-NEXT: Resize (opset 23) at 'aspect': attribute keep_aspect_ratio_policy = 'wider' is not supported
// CHECK-NEXT: Resize (opset 23) at 'no_region': operand 1 (the region) must be a constant of two numbers for each dimension that is resized
// CHECK-NEXT: Resize (opset 23) at 'rounding': attribute nearest_mode = 'even' is not supported
// CHECK-NEXT: Resize (opset 23) at 'count': operand 3 (sizes) must have one number for each of the 3 dimensions that are resized, but has 2
// CHECK-NEXT: Resize (opset 23) at 'empty': the result would be empty
// CHECK-NEXT: Resize (opset 23) at 'data': operand 3 must be an integer constant once shapes are known
// CHECK-NEXT: DepthToSpace (opset 23) at 'depth': blocksize^2 does not divide the channels
// CHECK-NEXT: SpaceToDepth (opset 23) at 'rows_first': attribute mode = 'RCD' is not supported
// CHECK-NEXT: SpaceToDepth (opset 23) at 'space': blocksize does not divide the spatial dimensions
// CHECK-NEXT: GatherElements (opset 23) at 'larger': indices must have the operand's rank and, but for the axis, be no larger
// CHECK-NEXT: GatherElements (opset 23) at 'outside': index 6 is outside of its dimension of 6
// CHECK-NEXT: Trilu (opset 23) at 'vector': the operand must have rank 2 or more
// CHECK-NEXT: ReduceProd (opset 23) at 'product': integer operands must be constants
// CHECK-NEXT: Pad (opset 23) at 'pad': attribute mode = 'mirror' is not supported
// CHECK-NEXT: Slice (opset 23) at 'slice': steps must not be 0
// CHECK-NEXT: TopK (opset 23) at 'sort': k = 7 must lie in 1 .. 6, which the dimension has
// CHECK-NEXT: Range (opset 23) at 'range': delta must not be 0, nor the range longer than 2^20
// CHECK-NEXT: Conv (opset 23) at 'hypervolume': operands must have one to three spatial dimensions, both as many
// CHECK-NEXT: Conv (opset 23) at 'deep': the window does not fit into the padded operand
// CHECK-NEXT: MaxPool (opset 23) at 'flat': only one to three spatial dimensions, with attribute kernel_shape for each, are supported
// CHECK-NEXT: RNN (opset 23) at 'clipped': attribute clip is not supported
// CHECK-NEXT: RNN (opset 23) at 'activated': activations other than the defaults are not supported
// CHECK-NEXT: RNN (opset 23) at 'both': operand 1 (the input weights) must have shape [2, 3, 4], but has [1, 3, 4]
// CHECK-NEXT: RNN (opset 23) at 'lengths': operand 4 (sequence_lens) must be 2, the number of steps, for each sequence, but has 1
// CHECK-NEXT: RNN (opset 23) at 'state': operand 5 (the initial state) must have shape [1, 6, 3], but has [1, 3, 3]
// CHECK-NEXT: RNN (opset 23) at 'single': operands 0 (the sequence) and 2 (the recurrent weights) must have rank 3, but have the shapes [6] and [1, 3, 3]
// CHECK-NEXT: LSTM (opset 23) at 'peeping': operand 7 (the peepholes) must have shape [1, 9], but has [1, 3, 3]
// CHECK-NEXT: LSTM (opset 23) at 'coupled': attribute input_forget is not supported
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>, %i: tensor<5xf32>, %image: tensor<1x2x3x4xf32>, %n: tensor<3xi64>) -> !onnx.unknown attributes {inputNames = ["x", "s", "i", "image", "n"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %0 = onnx.node "GroupNormalization"(%x, %s, %s) {num_groups = 4 : i64} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("groups")
  %1 = onnx.node "GroupNormalization"(%x, %i, %i) {num_groups = 2 : i64} : (tensor<2x6x4xf32>, tensor<5xf32>, tensor<5xf32>) -> !onnx.unknown loc("scales")
  %2 = onnx.node "LpNormalization"(%x) {p = 3 : i64} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("lp")
  %mvn = onnx.node "MeanVarianceNormalization"(%x) {axes = array<i64: 1, -2>} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("axes")
  %3 = onnx.node "Einsum"(%x, %s) {equation = "ijk->i"} : (tensor<2x6x4xf32>, tensor<6xf32>) -> !onnx.unknown loc("terms")
  %4 = onnx.node "Einsum"(%x) {equation = "ij->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("rank")
  %5 = onnx.node "Einsum"(%x) {equation = "ijj->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("sizes")
  %6 = onnx.node "Einsum"(%x) {equation = "ijk->iz"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("result")
  %7 = onnx.node "Einsum"(%x) {equation = "ij2->i"} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("digit")
  %none = onnx.none : none
  %sizes = onnx.initializer "sizes" = dense<[2, 6, 8]> : tensor<3xi64>
  %zero = onnx.initializer "zero" = dense<[2, 0, 8]> : tensor<3xi64>
  %two = onnx.initializer "two" = dense<[2, 6]> : tensor<2xi64>
  %8 = onnx.node "Resize"(%x, %none, %none, %sizes) {coordinate_transformation_mode = "far"} : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("mode")
  %9 = onnx.node "Resize"(%x, %none, %none, %sizes) {coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("crop")
  %10 = onnx.node "Resize"(%x, %none, %none, %sizes) {keep_aspect_ratio_policy = "wider"} : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("aspect")
  %11 = onnx.node "Resize"(%x, %none, %none, %sizes) {mode = "linear", coordinate_transformation_mode = "tf_crop_and_resize"} : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("no_region")
  %12 = onnx.node "Resize"(%x, %none, %none, %sizes) {nearest_mode = "even"} : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("rounding")
  %13 = onnx.node "Resize"(%x, %none, %none, %two) : (tensor<2x6x4xf32>, none, none, tensor<2xi64>) -> !onnx.unknown loc("count")
  %14 = onnx.node "Resize"(%x, %none, %none, %zero) : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("empty")
  %15 = onnx.node "Resize"(%x, %none, %none, %n) : (tensor<2x6x4xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("data")
  %16 = onnx.node "DepthToSpace"(%image) {blocksize = 2 : i64} : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("depth")
  %rows_first = onnx.node "SpaceToDepth"(%image) {blocksize = 1 : i64, mode = "RCD"} : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("rows_first")
  %17 = onnx.node "SpaceToDepth"(%image) {blocksize = 2 : i64} : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("space")
  %places = onnx.initializer "places" = dense<0> : tensor<2x1x5xi64>
  %six = onnx.initializer "six" = dense<6> : tensor<2x1x4xi64>
  %depth = onnx.initializer "depth" = dense<6> : tensor<i64>
  %18 = onnx.node "GatherElements"(%x, %places) {axis = 1 : i64} : (tensor<2x6x4xf32>, tensor<2x1x5xi64>) -> !onnx.unknown loc("larger")
  %19 = onnx.node "GatherElements"(%x, %six) {axis = 1 : i64} : (tensor<2x6x4xf32>, tensor<2x1x4xi64>) -> !onnx.unknown loc("outside")
  %21 = onnx.node "Trilu"(%s) : (tensor<6xf32>) -> !onnx.unknown loc("vector")
  %24 = onnx.node "ReduceProd"(%n) : (tensor<3xi64>) -> !onnx.unknown loc("product")
  %pads = onnx.initializer "pads" = dense<[1, 1]> : tensor<2xi64>
  %one = onnx.initializer "one" = dense<[1]> : tensor<1xi64>
  %none_at_all = onnx.initializer "none_at_all" = dense<[0]> : tensor<1xi64>
  %25 = onnx.node "Pad"(%s, %pads) {mode = "mirror"} : (tensor<6xf32>, tensor<2xi64>) -> !onnx.unknown loc("pad")
  %26 = onnx.node "Slice"(%s, %one, %one, %none_at_all, %none_at_all) : (tensor<6xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> !onnx.unknown loc("slice")
  %seven = onnx.initializer "seven" = dense<7> : tensor<1xi64>
  %still = onnx.initializer "still" = dense<0.0> : tensor<f32>
  %27 = onnx.node "TopK"(%s, %seven) : (tensor<6xf32>, tensor<1xi64>) -> !onnx.unknown loc("sort")
  %30 = onnx.node "Range"(%still, %still, %still) : (tensor<f32>, tensor<f32>, tensor<f32>) -> !onnx.unknown loc("range")
  %w6 = onnx.initializer "w6" = dense<0.0> : tensor<1x1x1x1x1x1xf32>
  %31 = onnx.node "Conv"(%w6, %w6) : (tensor<1x1x1x1x1x1xf32>, tensor<1x1x1x1x1x1xf32>) -> !onnx.unknown loc("hypervolume")
  %w5 = onnx.initializer "w5" = dense<0.0> : tensor<1x1x1x1x1xf32>
  %deep = onnx.initializer "deep" = dense<0.0> : tensor<1x1x2x1x1xf32>
  %32 = onnx.node "Conv"(%w5, %deep) : (tensor<1x1x1x1x1xf32>, tensor<1x1x2x1x1xf32>) -> !onnx.unknown loc("deep")
  %33 = onnx.node "MaxPool"(%s) {kernel_shape = array<i64: 2, 2>} : (tensor<6xf32>) -> !onnx.unknown loc("flat")
  %r = onnx.initializer "r" = dense<0.0> : tensor<1x3x3xf32>
  %wr = onnx.initializer "wr" = dense<0.0> : tensor<1x3x4xf32>
  %34 = onnx.node "RNN"(%x, %wr, %r) {clip = 1.0 : f32} : (tensor<2x6x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> !onnx.unknown loc("clipped")
  %35 = onnx.node "RNN"(%x, %wr, %r) {activations = ["Sigmoid"]} : (tensor<2x6x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> !onnx.unknown loc("activated")
  %36 = onnx.node "RNN"(%x, %wr, %r) {direction = "bidirectional"} : (tensor<2x6x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> !onnx.unknown loc("both")
  %lens = onnx.initializer "lens" = dense<[2, 2, 1, 2, 2, 2]> : tensor<6xi64>
  %37 = onnx.node "RNN"(%x, %wr, %r, %none, %lens) : (tensor<2x6x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, tensor<6xi64>) -> !onnx.unknown loc("lengths")
  %38 = onnx.node "RNN"(%x, %wr, %r, %none, %none, %r) : (tensor<2x6x4xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>, none, none, tensor<1x3x3xf32>) -> !onnx.unknown loc("state")
  %40 = onnx.node "RNN"(%s, %wr, %r) : (tensor<6xf32>, tensor<1x3x4xf32>, tensor<1x3x3xf32>) -> !onnx.unknown loc("single")
  %r4 = onnx.initializer "r4" = dense<0.0> : tensor<1x12x3xf32>
  %w4 = onnx.initializer "w4" = dense<0.0> : tensor<1x12x4xf32>
  %41 = onnx.node "LSTM"(%x, %w4, %r4, %none, %none, %none, %none, %r) : (tensor<2x6x4xf32>, tensor<1x12x4xf32>, tensor<1x12x3xf32>, none, none, none, none, tensor<1x3x3xf32>) -> !onnx.unknown loc("peeping")
  %42 = onnx.node "LSTM"(%x, %w4, %r4) {input_forget = 1 : i64} : (tensor<2x6x4xf32>, tensor<1x12x4xf32>, tensor<1x12x3xf32>) -> !onnx.unknown loc("coupled")
  onnx.return %0 : !onnx.unknown
}
