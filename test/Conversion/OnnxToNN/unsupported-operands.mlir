// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// What files have that breaks an operator's specification, or goes beyond what
// gpuopt has: operands that are missing or of another kind, shapes and indices
// that do not fit.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: Relu (opset 23) at 'nothing': operand 0 is missing
// CHECK-NEXT: MatMul (opset 23) at 'one_factor': operand 1 is missing
// CHECK-NEXT: Conv (opset 23) at 'no_weights': operand 1 is missing
// CHECK-NEXT: Relu (opset 23) at 'two': operand 1 is one too many
// CHECK-NEXT: Exp (opset 23) at 'integers': operand 0 must be floating-point, but is tensor<3xi64>
// CHECK-NEXT: Add (opset 23) at 'truths': operand 0 must be floating-point or integer, but is tensor<2xi1>
// CHECK-NEXT: Gather (opset 23) at 'indices': operand 1 must be integer, but is tensor<6xf32>
// CHECK-NEXT: Not (opset 23) at 'negation': operand 0 must be boolean, but is tensor<6xf32>
// CHECK-NEXT: MatMul (opset 23) at 'mixed': operand 1 must be of the type of operand 0, but is tensor<6xf16>
// CHECK-NEXT: Where (opset 23) at 'choice': operand 2 must be of the type of operand 1, but is tensor<6xf16>
// CHECK-NEXT: SequenceAt (opset 23) at 'no_sequence': operand 0 must be a sequence, but is tensor<6xf32>
// CHECK-NEXT: MatMul (opset 23) at 'scalar_product': operands must not be scalars
// CHECK-NEXT: MatMul (opset 23) at 'inner': the inner dimensions 4 and 6 of operands of shapes [2, 6, 4] and [2, 6, 4] differ
// CHECK-NEXT: Gemm (opset 23) at 'matrices': operands must be matrices
// CHECK-NEXT: Gemm (opset 23) at 'gemm_inner': the inner dimensions 6 and 0 of operands of shapes [6, 6] and [0, 4] differ
// CHECK-NEXT: Gemm (opset 23) at 'gemm_bias': operands of shapes [6, 6] and [2, 6, 4] do not broadcast to each other
// CHECK-NEXT: Add (opset 23) at 'add': operands of shapes [6, 6] and [2, 6, 4] do not broadcast to each other
// CHECK-NEXT: PRelu (opset 23) at 'slope': the slope must broadcast to the operand
// CHECK-NEXT: Softmax (opset 23) at 'axis': axis 1 is outside of rank 1
// CHECK-NEXT: Clip (opset 23) at 'bound': operand 1 must be a single floating-point constant
// CHECK-NEXT: Clip (opset 23) at 'whole_bound': operand 1 must be a single integer constant
// CHECK-NEXT: ReduceSum (opset 23) at 'reduced_twice': the axes name a dimension twice
// CHECK-NEXT: Unsqueeze (opset 23) at 'unsqueezed_twice': the axes name a dimension twice
// CHECK-NEXT: ReduceMean (opset 23) at 'mean': integer operands are not supported
// CHECK-NEXT: Gather (opset 23) at 'gathered': index 9 is outside of the dimension
// CHECK-NEXT: Gather (opset 23) at 'entries': the dimension has no entries to pick
// CHECK-NEXT: GatherND (opset 23) at 'points': attribute batch_dims = 1 must count leading dimensions that the operand and the indices share
// CHECK-NEXT: GatherND (opset 23) at 'point': index 9 is outside of its dimension of 6
// CHECK-NEXT: GatherND (opset 23) at 'digits': indices must have 1 to 1 numbers each, as many as the operand has dimensions
// CHECK-NEXT: OneHot (opset 23) at 'depth': the result has a dimension of -2
// CHECK-NEXT: LayerNormalization (opset 23) at 'layer': scale and bias must have the shape of the normalised dimensions
// CHECK-NEXT: GroupNormalization (opset 23) at 'group': the operand must have rank 2 or more
// CHECK-NEXT: InstanceNormalization (opset 23) at 'instance': the operand must have rank 3 or more
// CHECK-NEXT: RMSNormalization (opset 23) at 'rms': the scale must broadcast to the operand
// CHECK-NEXT: BatchNormalization (opset 23) at 'batch_rank': the operand must have rank 2 or more
// CHECK-NEXT: BatchNormalization (opset 23) at 'batch': scale, bias and statistics must have one element per channel, of the operand's type
// CHECK-NEXT: Dropout (opset 23) at 'ratio': the ratio must lie in [0, 1)
// CHECK-NEXT: Dropout (opset 23) at 'mode': operand 2 (training_mode) must be a constant of one element; it depends on input 'b', which --constant-input b=FILE.npy makes constant
// CHECK-NEXT: Dropout (opset 23) at 'no_mode': operand 2 (training_mode) must be a constant of one element{{$}}
// CHECK-NEXT: Attention (opset 23) at 'mask': operand 3 (attn_mask) must broadcast to the scores, and be boolean or of their type
// CHECK-NEXT: Attention (opset 23) at 'cache': operands 4 and 5 (a cache of keys and values) must come together
// CHECK-NEXT: Attention (opset 23) at 'softcap': attribute softcap must be 0 or more, but is -2.000000
// CHECK-NEXT: Attention (opset 23) at 'window': left_window_size and right_window_size must be -1 or more, but are -2 and -1
// CHECK-NEXT: Attention (opset 23) at 'heads': operand 0 must have rank 4, or rank 3 and heads (attribute q_num_heads) that divide its last dimension
// CHECK-NEXT: DepthToSpace (opset 23) at 'rank4': the operand must have rank 4
// CHECK-NEXT: SpaceToDepth (opset 23) at 'block': attribute blocksize must be at least 1
// CHECK-NEXT: DepthToSpace (opset 23) at 'large_block': attribute blocksize = 4294967296 must be at most 16777216
// CHECK-NEXT: Resize (opset 23) at 'far': the result would be too large
// CHECK-NEXT: EyeLike (opset 23) at 'eye': the operand must have rank 2
// CHECK-NEXT: EyeLike (opset 23) at 'eye_type': attribute dtype = 77 is not supported
// CHECK-NEXT: CumSum (opset 23) at 'axes': operand 1 must be a single integer constant
// CHECK-NEXT: Constant (opset 23) at 'constant': none of the attributes value, value_int(s), value_float(s)
// CHECK-NEXT: ConstantOfShape (opset 23) at 'fill': attribute value must have one element
// CHECK-NEXT: ConstantOfShape (opset 23) at 'negative': the result has a dimension of -2
// CHECK-NEXT: ConstantOfShape (opset 23) at 'long': the result has more than 2^48 elements
// CHECK-NEXT: Range (opset 23) at 'endless': delta must not be 0, nor the range longer than 2^20
// CHECK-NEXT: Reshape (opset 23) at 'reshape': the new shape has 12 elements, the operand 48
// CHECK-NEXT: Reshape (opset 23) at 'copied': a 0 in the new shape copies a dimension that the operand lacks
// CHECK-NEXT: Reshape (opset 23) at 'opened': the new shape has more than one -1
// CHECK-NEXT: Reshape (opset 23) at 'filled': the operand's elements do not fill the new shape
// CHECK-NEXT: Reshape (opset 23) at 'below': the result has a dimension of -6
// CHECK-NEXT: Flatten (opset 23) at 'flatten': axis 4 is outside of rank 3
// CHECK-NEXT: Transpose (opset 23) at 'perm': attribute perm is no permutation of the dimensions
// CHECK-NEXT: Expand (opset 23) at 'expand': the result has a dimension of -2
// CHECK-NEXT: Tile (opset 23) at 'repeats': one repeat per dimension is needed
// CHECK-NEXT: Tile (opset 23) at 'negative_repeat': a repeat is negative or too large
// CHECK-NEXT: Concat (opset 23) at 'joined': operands differ in more than the dimension that is joined
// CHECK-NEXT: Slice (opset 23) at 'starts': starts, ends, axes and steps must have one number for each dimension that is sliced
// CHECK-NEXT: Split (opset 23) at 'parts': the parts do not add up to the dimension that is split
// CHECK-NEXT: Split (opset 23) at 'negative_part': the parts do not add up to the dimension that is split
// CHECK-NEXT: Split (opset 23) at 'few_outputs': operand 1 must give one size per output, of which there are 1, but gives 2
// CHECK-NEXT: Split (opset 23) at 'many_outputs': attribute num_outputs = 3 must equal the number of outputs, which is 1
// CHECK-NEXT: Pad (opset 23) at 'more_pads': operand 1 (pads) must have 2 numbers, two for each dimension, but has 4
// CHECK-NEXT: Pad (opset 23) at 'far_pad': the pads 9223372036854775807 and 1 of dimension 0 must lie between -2^48 and 2^48
// CHECK-NEXT: Pad (opset 23) at 'empty_pad': dimension 0 has no elements, which mode 'edge' repeats: expects one or more
// CHECK-NEXT: Conv (opset 23) at 'planes': operands must have one to three spatial dimensions, both as many
// CHECK-NEXT: Conv (opset 23) at 'strides': kernel_shape, strides and dilations must be at least 1, and pads at least 0, for each spatial dimension
// CHECK-NEXT: Conv (opset 23) at 'channels': the weights do not fit the operand's channels and the groups
// CHECK-NEXT: Conv (opset 23) at 'window': the window does not fit into the padded operand
// CHECK-NEXT: Conv (opset 23) at 'conv_bias': the bias must have one element per channel
// CHECK-NEXT: ConvTranspose (opset 23) at 'automatic': attribute output_shape must be at least 1 for each spatial dimension
// CHECK-NEXT: ConvTranspose (opset 23) at 'extra': attribute output_padding must be at least 0 for each spatial dimension
// CHECK-NEXT: ConvTranspose (opset 23) at 'fit': the weights do not fit the operand's channels and the groups
// CHECK-NEXT: MaxPool (opset 23) at 'kernel': only one to three spatial dimensions, with attribute kernel_shape for each, are supported
// CHECK-NEXT: GlobalMaxPool (opset 23) at 'global': the operand must have spatial dimensions
// CHECK-NEXT: MatMul (opset 23) at 'batches': batch dimensions of operands of shapes [2, 6, 4] and [3, 4, 6] do not broadcast to each other
// CHECK-NEXT: MatMul (opset 23) at 'batch_rank': products of more than 12 batch dimensions are not supported
// CHECK-NEXT: Gemm (opset 23) at 'wide_bias': operand 2 must broadcast to the product
// CHECK-NEXT: ReduceLogSumExp (opset 23) at 'log_sum': integer operands are not supported
// CHECK-NEXT: Reshape (opset 23) at 'overflow': the operand's elements do not fill the new shape
// CHECK-NEXT: Resize (opset 23) at 'no_constant': operand 2 must be a floating-point constant
// CHECK-NEXT: GatherElements (opset 23) at 'no_elements': the dimension has no entries to pick
// CHECK-NEXT: GatherND (opset 23) at 'no_rows': the dimension has no entries to pick
// CHECK-NEXT: Einsum (opset 23) at 'letters': a product of more than 26 dimensions is not supported
// CHECK-NEXT: GRU (opset 23) at 'no_steps': the sequence has no steps
// CHECK-NEXT: GRU (opset 23) at 'two_billion_steps': a sequence of 2147483648 steps is too long, since at most 65536 are supported: train on shorter sequences
// CHECK-NEXT: RNN (opset 23) at 'flat_weights': operands 0 (the sequence) and 2 (the recurrent weights) must have rank 3, but have the shapes [1, 6, 2] and []
// CHECK-NEXT: Conv (opset 23) at 'deep_window': the window does not fit into the padded operand
// CHECK-NEXT: ConvTranspose (opset 23) at 'deep_result': the result has a dimension of -5
// CHECK-NEXT: Abs (opset 23) at 'unsigned': operand 0 must be signed, but is tensor<2xui64>
// CHECK-NEXT: Add (opset 23) at 'unsigned_sum': operand 1 must be signed, but is tensor<2xui64>
// CHECK-NEXT: ReduceMax (opset 23) at 'unsigned_most': operand 0 must be signed, but is tensor<2xui64>
// CHECK-NEXT: Gather (opset 23) at 'unsigned_index': operand 1 must be signed, but is tensor<2xui64>
// CHECK-NEXT: Cast (opset 23) at 'unsigned_cast': unsigned integers must be constants
// CHECK-NEXT: Unsqueeze (opset 23) at 'unsigned_shape': unsigned integers must be constants
// CHECK-NEXT: docs/onnx-operators.md lists what is supported and says how to add an operator
onnx.graph @g(%x: tensor<2x6x4xf32>, %v: tensor<6xf32>, %w: tensor<6x6xf32>, %image: tensor<1x2x3x4xf32>, %scalar: tensor<f32>, %n: tensor<3xi64>, %b: tensor<2xi1>, %h: tensor<6xf16>, %empty: tensor<0x4xf32>, %p: tensor<3x4x6xf32>, %deep_batch: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x2x2xf32>, %bias: tensor<2x6x6xf32>, %none_yet: tensor<0x2x2xf32>, %sequence: tensor<1x6x2xf32>, %volume: tensor<1x1x2x2x2xf32>, %places: tensor<1x4xi64>, %cube: tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, %row: tensor<1xi64>, %bytes: tensor<2xui64>, %endless: tensor<2147483648x2x2xf32>) -> !onnx.unknown attributes {inputNames = ["x", "v", "w", "image", "scalar", "n", "b", "h", "empty", "p", "deep_batch", "bias", "none_yet", "sequence", "volume", "places", "cube", "row", "bytes", "endless"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %overflow = onnx.initializer "overflow" = dense<[4294967296, 4294967296, -1]> : tensor<3xi64>
  %zero = onnx.initializer "zero" = dense<0> : tensor<i64>
  %zero1 = onnx.initializer "zero1" = dense<[0]> : tensor<1xi64>
  %two = onnx.initializer "two" = dense<[2, 6]> : tensor<2xi64>
  %minus = onnx.initializer "minus" = dense<[-2]> : tensor<1xi64>
  %nine = onnx.initializer "nine" = dense<[9]> : tensor<1xi64>
  %twice = onnx.initializer "twice" = dense<[1, 1]> : tensor<2xi64>
  %shape0 = onnx.initializer "shape0" = dense<[2, 6, 4, 0]> : tensor<4xi64>
  %open2 = onnx.initializer "open2" = dense<[-1, -1]> : tensor<2xi64>
  %open5 = onnx.initializer "open5" = dense<[5, -1]> : tensor<2xi64>
  %long = onnx.initializer "long" = dense<[1099511627776, 1099511627776]> : tensor<2xi64>
  %below = onnx.initializer "below" = dense<[6, -6]> : tensor<2xi64>
  %wide = onnx.initializer "wide" = dense<[9223372036854775807]> : tensor<1xi64>
  %pads = onnx.initializer "pads" = dense<[-1, 0]> : tensor<2xi64>
  %pads1 = onnx.initializer "pads1" = dense<[1, 0]> : tensor<2xi64>
  %pad_far = onnx.initializer "pad_far" = dense<[9223372036854775807, 1]> : tensor<2xi64>
  %pads4 = onnx.initializer "pads4" = dense<[1, 0, 0, 0]> : tensor<4xi64>
  %ratio = onnx.initializer "ratio" = dense<1.5> : tensor<f32>
  %half = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %scales = onnx.initializer "scales" = dense<[1.0, 1.0e30, 1.0]> : tensor<3xf32>
  %parts = onnx.initializer "parts" = dense<[4, 4]> : tensor<2xi64>
  %some = onnx.initializer "some" = dense<[1, 2]> : tensor<2xi64>
  %values = onnx.initializer "values" = dense<[0.0, 1.0]> : tensor<2xf32>
  %none_at_all = onnx.initializer "none_at_all" = dense<[]> : tensor<0xi64>
  %rows = onnx.initializer "rows" = dense<[[0, 9]]> : tensor<1x2xi64>
  %ninth = onnx.initializer "ninth" = dense<[[9]]> : tensor<1x1xi64>
  %far = onnx.initializer "far" = dense<-9223372036854775807> : tensor<i64>
  %huge = onnx.initializer "huge" = dense<9223372036854775807> : tensor<i64>
  %table = onnx.initializer "table" = dense<[1, 2, 3]> : tensor<3xi64>
  %deep = onnx.initializer "deep" = dense<[281474976710656]> : tensor<1xi64>
  %flags = onnx.initializer "flags" = dense<true> : tensor<i1>
  %0 = onnx.node "Relu"() : () -> !onnx.unknown loc("nothing")
  %1 = onnx.node "MatMul"(%x) : (tensor<2x6x4xf32>) -> !onnx.unknown loc("one_factor")
  %2 = onnx.node "Conv"(%image, %none) : (tensor<1x2x3x4xf32>, none) -> !onnx.unknown loc("no_weights")
  %3 = onnx.node "Relu"(%v, %v) : (tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("two")
  %4 = onnx.node "Exp"(%n) : (tensor<3xi64>) -> !onnx.unknown loc("integers")
  %5 = onnx.node "Add"(%b, %b) : (tensor<2xi1>, tensor<2xi1>) -> !onnx.unknown loc("truths")
  %6 = onnx.node "Gather"(%x, %v) : (tensor<2x6x4xf32>, tensor<6xf32>) -> !onnx.unknown loc("indices")
  %7 = onnx.node "Not"(%v) : (tensor<6xf32>) -> !onnx.unknown loc("negation")
  %8 = onnx.node "MatMul"(%w, %h) : (tensor<6x6xf32>, tensor<6xf16>) -> !onnx.unknown loc("mixed")
  %9 = onnx.node "Where"(%b, %v, %h) : (tensor<2xi1>, tensor<6xf32>, tensor<6xf16>) -> !onnx.unknown loc("choice")
  %10 = onnx.node "SequenceAt"(%v, %zero) : (tensor<6xf32>, tensor<i64>) -> !onnx.unknown loc("no_sequence")
  %11 = onnx.node "MatMul"(%scalar, %x) : (tensor<f32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("scalar_product")
  %12 = onnx.node "MatMul"(%x, %x) : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("inner")
  %13 = onnx.node "Gemm"(%x, %w) : (tensor<2x6x4xf32>, tensor<6x6xf32>) -> !onnx.unknown loc("matrices")
  %14 = onnx.node "Gemm"(%w, %empty) : (tensor<6x6xf32>, tensor<0x4xf32>) -> !onnx.unknown loc("gemm_inner")
  %15 = onnx.node "Gemm"(%w, %w, %x) : (tensor<6x6xf32>, tensor<6x6xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("gemm_bias")
  %16 = onnx.node "Add"(%w, %x) : (tensor<6x6xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("add")
  %17 = onnx.node "PRelu"(%v, %w) : (tensor<6xf32>, tensor<6x6xf32>) -> !onnx.unknown loc("slope")
  %18 = onnx.node "Softmax"(%v) {axis = 1 : i64} : (tensor<6xf32>) -> !onnx.unknown loc("axis")
  %19 = onnx.node "Clip"(%v, %values) : (tensor<6xf32>, tensor<2xf32>) -> !onnx.unknown loc("bound")
  %20 = onnx.node "Clip"(%n, %some) : (tensor<3xi64>, tensor<2xi64>) -> !onnx.unknown loc("whole_bound")
  %21 = onnx.node "ReduceSum"(%x, %twice) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("reduced_twice")
  %22 = onnx.node "Unsqueeze"(%x, %twice) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("unsqueezed_twice")
  %23 = onnx.node "ReduceMean"(%n) : (tensor<3xi64>) -> !onnx.unknown loc("mean")
  %24 = onnx.node "Gather"(%v, %nine) : (tensor<6xf32>, tensor<1xi64>) -> !onnx.unknown loc("gathered")
  %25 = onnx.node "Gather"(%empty, %n) : (tensor<0x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("entries")
  %26 = onnx.node "GatherND"(%x, %n) {batch_dims = 1 : i64} : (tensor<2x6x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("points")
  %27 = onnx.node "GatherND"(%w, %rows) : (tensor<6x6xf32>, tensor<1x2xi64>) -> !onnx.unknown loc("point")
  %28 = onnx.node "GatherND"(%v, %some) : (tensor<6xf32>, tensor<2xi64>) -> !onnx.unknown loc("digits")
  %29 = onnx.node "OneHot"(%n, %minus, %two) : (tensor<3xi64>, tensor<1xi64>, tensor<2xi64>) -> !onnx.unknown loc("depth")
  %30 = onnx.node "LayerNormalization"(%x, %v) : (tensor<2x6x4xf32>, tensor<6xf32>) -> !onnx.unknown loc("layer")
  %31 = onnx.node "GroupNormalization"(%v, %v, %v) {num_groups = 2 : i64} : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("group")
  %32 = onnx.node "InstanceNormalization"(%w, %v, %v) : (tensor<6x6xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("instance")
  %33 = onnx.node "RMSNormalization"(%w, %x) : (tensor<6x6xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("rms")
  %34 = onnx.node "BatchNormalization"(%v, %v, %v, %v, %v) : (tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("batch_rank")
  %35 = onnx.node "BatchNormalization"(%image, %v, %v, %v, %v) : (tensor<1x2x3x4xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("batch")
  %36 = onnx.node "Dropout"(%v, %ratio) : (tensor<6xf32>, tensor<f32>) -> !onnx.unknown loc("ratio")
  %37 = onnx.node "Dropout"(%v, %half, %b) : (tensor<6xf32>, tensor<f32>, tensor<2xi1>) -> !onnx.unknown loc("mode")
  %no_mode = onnx.initializer "no_mode" = dense<> : tensor<0xi1>
  %dropped = onnx.node "Dropout"(%v, %half, %no_mode) : (tensor<6xf32>, tensor<f32>, tensor<0xi1>) -> !onnx.unknown loc("no_mode")
  %38 = onnx.node "Attention"(%image, %image, %image, %n) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("mask")
  %39 = onnx.node "Attention"(%image, %image, %image, %none, %image) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, none, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("cache")
  %40 = onnx.node "Attention"(%image, %image, %image) {softcap = -2.0 : f32} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("softcap")
  %window = onnx.node "Attention"(%image, %image, %image) {left_window_size = -2 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("window")
  %41 = onnx.node "Attention"(%x, %x, %x) {q_num_heads = 3 : i64} : (tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("heads")
  %42 = onnx.node "DepthToSpace"(%x) {blocksize = 2 : i64} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("rank4")
  %43 = onnx.node "SpaceToDepth"(%image) : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("block")
  %large = onnx.node "DepthToSpace"(%image) {blocksize = 4294967296 : i64} : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("large_block")
  %44 = onnx.node "Resize"(%x, %none, %scales) : (tensor<2x6x4xf32>, none, tensor<3xf32>) -> !onnx.unknown loc("far")
  %45 = onnx.node "EyeLike"(%v) : (tensor<6xf32>) -> !onnx.unknown loc("eye")
  %46 = onnx.node "EyeLike"(%w) {dtype = 77 : i64} : (tensor<6x6xf32>) -> !onnx.unknown loc("eye_type")
  %47 = onnx.node "CumSum"(%v, %some) : (tensor<6xf32>, tensor<2xi64>) -> !onnx.unknown loc("axes")
  %48 = onnx.node "Constant"() : () -> !onnx.unknown loc("constant")
  %49 = onnx.node "ConstantOfShape"(%two) {value = dense<[1.0, 2.0]> : tensor<2xf32>} : (tensor<2xi64>) -> !onnx.unknown loc("fill")
  %50 = onnx.node "ConstantOfShape"(%minus) : (tensor<1xi64>) -> !onnx.unknown loc("negative")
  %51 = onnx.node "ConstantOfShape"(%long) : (tensor<2xi64>) -> !onnx.unknown loc("long")
  %52 = onnx.node "Range"(%zero, %huge, %zero1) : (tensor<i64>, tensor<i64>, tensor<1xi64>) -> !onnx.unknown loc("endless")
  %53 = onnx.node "Reshape"(%x, %two) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("reshape")
  %54 = onnx.node "Reshape"(%x, %shape0) : (tensor<2x6x4xf32>, tensor<4xi64>) -> !onnx.unknown loc("copied")
  %55 = onnx.node "Reshape"(%x, %open2) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("opened")
  %56 = onnx.node "Reshape"(%x, %open5) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("filled")
  %57 = onnx.node "Reshape"(%x, %below) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("below")
  %58 = onnx.node "Flatten"(%x) {axis = 4 : i64} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("flatten")
  %59 = onnx.node "Transpose"(%x) {perm = array<i64: 0, 0, 1>} : (tensor<2x6x4xf32>) -> !onnx.unknown loc("perm")
  %60 = onnx.node "Expand"(%v, %minus) : (tensor<6xf32>, tensor<1xi64>) -> !onnx.unknown loc("expand")
  %61 = onnx.node "Tile"(%x, %two) : (tensor<2x6x4xf32>, tensor<2xi64>) -> !onnx.unknown loc("repeats")
  %62 = onnx.node "Tile"(%v, %minus) : (tensor<6xf32>, tensor<1xi64>) -> !onnx.unknown loc("negative_repeat")
  %63 = onnx.node "Concat"(%w, %x) {axis = 0 : i64} : (tensor<6x6xf32>, tensor<2x6x4xf32>) -> !onnx.unknown loc("joined")
  %64 = onnx.node "Slice"(%v, %some, %zero1) : (tensor<6xf32>, tensor<2xi64>, tensor<1xi64>) -> !onnx.unknown loc("starts")
  %65:2 = onnx.node "Split"(%v, %parts) : (tensor<6xf32>, tensor<2xi64>) -> (!onnx.unknown, !onnx.unknown) loc("parts")
  %66:2 = onnx.node "Split"(%v, %below) : (tensor<6xf32>, tensor<2xi64>) -> (!onnx.unknown, !onnx.unknown) loc("negative_part")
  %split = onnx.node "Split"(%v, %parts) : (tensor<6xf32>, tensor<2xi64>) -> !onnx.unknown loc("few_outputs")
  %split_more = onnx.node "Split"(%v) {num_outputs = 3} : (tensor<6xf32>) -> !onnx.unknown loc("many_outputs")
  %68 = onnx.node "Pad"(%v, %pads4) : (tensor<6xf32>, tensor<4xi64>) -> !onnx.unknown loc("more_pads")
  %69 = onnx.node "Pad"(%v, %pad_far) : (tensor<6xf32>, tensor<2xi64>) -> !onnx.unknown loc("far_pad")
  %71 = onnx.node "Pad"(%empty, %pads4) {mode = "edge"} : (tensor<0x4xf32>, tensor<4xi64>) -> !onnx.unknown loc("empty_pad")
  %72 = onnx.node "Conv"(%v, %v) : (tensor<6xf32>, tensor<6xf32>) -> !onnx.unknown loc("planes")
  %73 = onnx.node "Conv"(%image, %image) {strides = array<i64: 0, 1>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("strides")
  %74 = onnx.node "Conv"(%image, %image) {group = 2 : i64} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("channels")
  %75 = onnx.node "Conv"(%image, %image) {dilations = array<i64: 9, 1>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("window")
  %76 = onnx.node "Conv"(%image, %image, %v) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>, tensor<6xf32>) -> !onnx.unknown loc("conv_bias")
  %77 = onnx.node "ConvTranspose"(%image, %image) {output_shape = array<i64: 3>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("automatic")
  %78 = onnx.node "ConvTranspose"(%image, %image) {output_padding = array<i64: -9, 9>} : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("extra")
  %79 = onnx.node "ConvTranspose"(%image, %image) : (tensor<1x2x3x4xf32>, tensor<1x2x3x4xf32>) -> !onnx.unknown loc("fit")
  %80 = onnx.node "MaxPool"(%image) {kernel_shape = array<i64: 2>} : (tensor<1x2x3x4xf32>) -> !onnx.unknown loc("kernel")
  %81 = onnx.node "GlobalMaxPool"(%w) : (tensor<6x6xf32>) -> !onnx.unknown loc("global")
  %more0 = onnx.node "MatMul"(%x, %p) : (tensor<2x6x4xf32>, tensor<3x4x6xf32>) -> !onnx.unknown loc("batches")
  %more1 = onnx.node "MatMul"(%deep_batch, %deep_batch) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x2x2xf32>, tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x2x2xf32>) -> !onnx.unknown loc("batch_rank")
  %more2 = onnx.node "Gemm"(%w, %w, %bias) : (tensor<6x6xf32>, tensor<6x6xf32>, tensor<2x6x6xf32>) -> !onnx.unknown loc("wide_bias")
  %more3 = onnx.node "ReduceLogSumExp"(%n) : (tensor<3xi64>) -> !onnx.unknown loc("log_sum")
  %more4 = onnx.node "Reshape"(%x, %overflow) : (tensor<2x6x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("overflow")
  %more5 = onnx.node "Resize"(%x, %none, %v) : (tensor<2x6x4xf32>, none, tensor<6xf32>) -> !onnx.unknown loc("no_constant")
  %none_there = onnx.node "GatherElements"(%empty, %places) : (tensor<0x4xf32>, tensor<1x4xi64>) -> !onnx.unknown loc("no_elements")
  %no_rows = onnx.node "GatherND"(%empty, %row) : (tensor<0x4xf32>, tensor<1xi64>) -> !onnx.unknown loc("no_rows")
  %letters = onnx.node "Einsum"(%cube, %cube) {equation = "abcdefghijklmn,nopqrstuvwxyzA->abcdefghijklmopqrstuvwxyzA"} : (tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>, tensor<2x2x2x2x2x2x2x2x2x2x2x2x2x2xf32>) -> !onnx.unknown loc("letters")
  %no_steps = onnx.node "GRU"(%none_yet, %sequence, %sequence) {hidden_size = 2 : i64} : (tensor<0x2x2xf32>, tensor<1x6x2xf32>, tensor<1x6x2xf32>) -> !onnx.unknown loc("no_steps")
  %two_billion_steps = onnx.node "GRU"(%endless, %sequence, %sequence) {hidden_size = 2 : i64} : (tensor<2147483648x2x2xf32>, tensor<1x6x2xf32>, tensor<1x6x2xf32>) -> !onnx.unknown loc("two_billion_steps")
  %flat_weights = onnx.node "RNN"(%sequence, %sequence, %scalar) : (tensor<1x6x2xf32>, tensor<1x6x2xf32>, tensor<f32>) -> !onnx.unknown loc("flat_weights")
  %deep_window = onnx.node "Conv"(%volume, %volume) {dilations = array<i64: 9, 1, 1>} : (tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) -> !onnx.unknown loc("deep_window")
  %deep_result = onnx.node "ConvTranspose"(%volume, %volume) {pads = array<i64: 4, 0, 0, 4, 0, 0>} : (tensor<1x1x2x2x2xf32>, tensor<1x1x2x2x2xf32>) -> !onnx.unknown loc("deep_result")
  %few = onnx.initializer "few" = dense<[1, 127]> : tensor<2xui64>
  %many = onnx.initializer "many" = dense<[1, 9223372036854775808]> : tensor<2xui64>
  %unsigned = onnx.node "Abs"(%bytes) : (tensor<2xui64>) -> !onnx.unknown loc("unsigned")
  %unsigned_sum = onnx.node "Add"(%few, %bytes) : (tensor<2xui64>, tensor<2xui64>) -> !onnx.unknown loc("unsigned_sum")
  %unsigned_most = onnx.node "ReduceMax"(%many) : (tensor<2xui64>) -> !onnx.unknown loc("unsigned_most")
  %unsigned_index = onnx.node "Gather"(%v, %bytes) : (tensor<6xf32>, tensor<2xui64>) -> !onnx.unknown loc("unsigned_index")
  %unsigned_cast = onnx.node "Cast"(%bytes) {to = 1 : i64} : (tensor<2xui64>) -> !onnx.unknown loc("unsigned_cast")
  %unsigned_shape = onnx.node "Unsqueeze"(%bytes, %zero1) : (tensor<2xui64>, tensor<1xi64>) -> !onnx.unknown loc("unsigned_shape")
  onnx.return %0#0 : !onnx.unknown
}
