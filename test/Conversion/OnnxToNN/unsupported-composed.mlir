// RUN: not gpuopt-opt %s -split-input-file -convert-onnx-to-nn 2>&1 | FileCheck %s

// Operators of bits, signals, recurrences, regions of images and quantised
// numbers whose operands or attributes are not as they should be.
// CHECK: BitCast (opset 28) at 'bits_of_data': operand 0 must be a constant, because programs do not look at bits
// CHECK: BitCast (opset 28) at 'bits': elements of 32 bits cannot be read as int64, which has 64 bits
// CHECK: BitCast (opset 28) at 'no_type': a cast to string (attribute to = 8) is not supported
// CHECK: BitShift (opset 28) at 'up': attribute direction = 'UP' must be LEFT or RIGHT
// CHECK: BitShift (opset 28) at 'unsigned': unsigned integers must be constants
// CHECK: HannWindow (opset 28) at 'window_type': attribute output_datatype = 6 names no floating-point type
// CHECK: MelWeightMatrix (opset 28) at 'bands': expects a length and a rate of at least 1, edges of the bands with 0 <= lower < upper, and a number of bands that is not negative
// CHECK: DFT (opset 28) at 'vector': the operand must have shape [..., 1] or [..., 2], but has 1 dimensions, the last of 6
// CHECK: DFT (opset 28) at 'last_axis': the axis must not be the last dimension
// CHECK: DFT (opset 28) at 'no_length': the transform has a length of 0
// CHECK: DFT (opset 28) at 'long_transform': a transform of 6 numbers to 100000000 would need a matrix of more than 16777216 elements
// CHECK: STFT (opset 28) at 'matrix': the signal must have shape [batch, length, 1 or 2]
// CHECK: STFT (opset 28) at 'long_frames': frames of 100000000 in steps of 2 do not fit into a signal of 6
// CHECK: STFT (opset 28) at 'window': the window must have 1 elements of the signal's type
// CHECK: LinearAttention (opset 28) at 'ranks': queries, keys and values must have rank 3
// CHECK: LinearAttention (opset 28) at 'heads': attributes q_num_heads = 3 and kv_num_heads = 2 must divide each other and the last dimensions
// CHECK: LinearAttention (opset 28) at 'keys': queries, keys and values do not fit each other
// CHECK: LinearAttention (opset 28) at 'rule': attribute update_rule = 'slow' is not supported
// CHECK: LinearAttention (opset 28) at 'no_decay': update_rule = 'gated' needs operand 4
// CHECK: LinearAttention (opset 28) at 'decay': operand 4 (the decay) must have a number for each head, or one for each key dimension
// CHECK: LinearAttention (opset 28) at 'beta': operand 5 (beta) must have a number for each head, or one for all
// CHECK: LinearAttention (opset 28) at 'past': operand 3 (the past state) must have shape [batch, kv_num_heads, keys, values]
// CHECK: LinearAttention (opset 28) at 'tokens': a sequence of 70000 tokens is too long, since at most 65536 are supported: train on shorter sequences
// CHECK: CausalConvWithState (opset 28) at 'wide_kernel': the operand must have shape [batch, channels, length], and the weights [channels, 1, 1 .. 256]
// CHECK: CausalConvWithState (opset 28) at 'bias': operand 2 (the bias) must have a number for each channel
// CHECK: CausalConvWithState (opset 28) at 'state': operand 3 (the past state) must have shape [batch, channels, kernel - 1]
// CHECK: CausalConvWithState (opset 28) at 'activation': attribute activation = 'relu' is not supported
// CHECK: TensorScatter (opset 28) at 'update': the update must have the cache's shape but for the axis, which is not the first, and no more of it
// CHECK: TensorScatter (opset 28) at 'mode': attribute mode = 'ring' is not supported
// CHECK: TensorScatter (opset 28) at 'indices': operand 2 must have an index for each sample
// CHECK: Det (opset 28) at 'not_square': the operand must have matrices of n x n elements, with n from 1 to 64
// CHECK: RoiAlign (opset 28) at 'regions': operands must have shapes [images, channels, height, width], [regions, 4] and [regions]
// CHECK: RoiAlign (opset 28) at 'mode': attribute mode = 'median' is not supported
// CHECK: RoiAlign (opset 28) at 'adaptive': the regions decide how many samples are taken if sampling_ratio is 0, so operand 1 must be a constant: set sampling_ratio
// CHECK: RoiAlign (opset 28) at 'dense': an output takes 300 samples along a dimension, but at most 256 are supported
// CHECK: DeformConv (opset 28) at 'line': only images of two dimensions are supported
// CHECK: DeformConv (opset 28) at 'strides': attributes strides, dilations and pads must have a number for each dimension, and pads one for each of its ends
// CHECK: DeformConv (opset 28) at 'groups': the number of channels must be a multiple of group and of offset_group, and the weights must have the channels of one group
// CHECK: DeformConv (opset 28) at 'offsets': offsets, bias or mask do not fit the result
// CHECK: QuantizeLinear (opset 28) at 'scales': operand 1 must have one number, one for each entry of the axis, or one for each block of block_size entries
// CHECK: QuantizeLinear (opset 28) at 'no_format': a type of number 0 (of operand 2, or attribute output_dtype) is not supported
// CHECK: QuantizeLinear (opset 28) at 'no_output': a type of number 7 (of operand 2, or attribute output_dtype) is not supported
// CHECK: DequantizeLinear (opset 28) at 'output': attribute output_dtype = 6 names no floating-point type
// CHECK: MatMulInteger (opset 28) at 'zero': operand 2 (a zero point) does not fit operand 0
// CHECK: QLinearMatMul (opset 28) at 'result': operands 6 and 7 (the scale and zero point of the result) must have one element each, and operand 7 must be of 8 or 16 bits
// CHECK: QLinearMatMul (opset 28) at 'wide_zero': operands 6 and 7 (the scale and zero point of the result) must have one element each, and operand 7 must be of 8 or 16 bits
// CHECK: QLinearMatMul (opset 28) at 'fit': the scales do not fit the result
// CHECK: QLinearConv (opset 28) at 'channels': operand 8 (the bias) must have a number for each channel
// CHECK: Frobnicate (opset 28) at 'frob': the operator is not supported
// CHECK: RoiAlign (opset 28) at 'many': the compiler would go through 1099511627776 elements one by one
// CHECK: LinearAttention (opset 28) at 'state': the result has more than 2^48 elements
// CHECK: STFT (opset 28) at 'frames': the result has more than 2^48 elements
// CHECK: DFT (opset 28) at 'result': the result has more than 2^48 elements
// CHECK: DFT (opset 28) at 'deep': the operand has 27 dimensions, but at most 25 are supported
// CHECK: CumSum (opset 28) at 'deep_sum': the operand has 27 dimensions, but at most 25 are supported
// Sums of 20000 elements are cut into chunks twice.
// CHECK: CumSum (opset 28) at 'long_sum': the operand has 25 dimensions, but at most 23 are supported where a long dimension is summed in chunks
// CHECK: Resize (opset 28) at 'deep_image': the operand has 27 dimensions, but at most 25 are supported
// CHECK: Resize (opset 28) at 'twice': attribute axes names dimension 2 twice
// CHECK: Det (opset 28) at 'none': the operand has no matrices
// CHECK: MelWeightMatrix (opset 28) at 'bins': the compiler would go through 549755813889 elements one by one
onnx.graph @g(%x: tensor<2x3xf32>, %s: tensor<2x6x1xf32>, %v: tensor<6xf32>, %im: tensor<1x2x4x4xf32>, %rois: tensor<3x4xf32>, %i: tensor<3xi64>, %n: tensor<i64>, %b: tensor<2x3xi8>, %u: tensor<2xui64>, %q: tensor<2x4x4xf32>, %kk: tensor<2x4x2xf32>, %kl: tensor<2x5x2xf32>, %st: tensor<2x1x2x3xf32>, %d3: tensor<2x4x3xf32>, %ql: tensor<1x70000x4xf32>, %kkl: tensor<1x70000x2xf32>, %bl: tensor<1x70000x1xf32>, %cw: tensor<6x1x3xf32>, %cwide: tensor<6x1x300xf32>, %cb: tensor<5xf32>, %cp: tensor<2x6x3xf32>, %cache: tensor<2x5x3xf32>, %update: tensor<2x6x3xf32>, %up2: tensor<2x2x3xf32>, %seq: tensor<2x6x4xf32>, %w4: tensor<1x12x4xf32>, %r4: tensor<1x12x3xf32>, %p3: tensor<1x3xf32>, %dw: tensor<2x2x2x2xf32>, %off: tensor<1x8x3x3xf32>, %off4: tensor<1x8x4x3xf32>, %dw3: tensor<2x2x2xf32>, %dw1: tensor<2x1x2x2xf32>, %sc2: tensor<2xf32>, %sc3: tensor<3xf32>, %sc1: tensor<f32>) -> !onnx.unknown attributes {inputNames = ["x", "s", "v", "im", "rois", "i", "n", "b", "u", "q", "kk", "kl", "st", "d3", "ql", "kkl", "bl", "cw", "cwide", "cb", "cp", "cache", "update", "up2", "seq", "w4", "r4", "p3", "dw", "off", "off4", "dw3", "dw1", "sc2", "sc3", "sc1"], opsets = {ai.onnx = 28 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %two = onnx.initializer "two" = dense<2> : tensor<i64>
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %nothing = onnx.initializer "nothing" = dense<0> : tensor<i64>
  %huge = onnx.initializer "huge" = dense<100000000> : tensor<i64>
  %few = onnx.initializer "few" = dense<1.0> : tensor<1xf32>
  %hertz = onnx.initializer "hertz" = dense<100.0> : tensor<f32>
  %low = onnx.initializer "low" = dense<50.0> : tensor<f32>
  %byte = onnx.initializer "byte" = dense<1> : tensor<2xui64>
  %bytes = onnx.initializer "bytes" = dense<1> : tensor<3xui8>
  %floats = onnx.initializer "floats" = dense<1.0> : tensor<2xf32>
  %third = onnx.initializer "third" = dense<0.5> : tensor<f32>
  %zero8 = onnx.initializer "zero8" = dense<3> : tensor<i8>
  %zero32 = onnx.initializer "zero32" = dense<3> : tensor<i32>
  %e8 = onnx.initializer "e8" = dense<1.0> : tensor<f8E8M0FNU>
  %matrix = onnx.initializer "matrix" = dense<1> : tensor<3x3xi8>
  %kernel = onnx.initializer "kernel" = dense<1> : tensor<5x2x1x1xi8>
  %image8 = onnx.initializer "image8" = dense<1> : tensor<1x2x3x3xi8>
  %bias = onnx.initializer "bias" = dense<1> : tensor<4xi32>
  %y0 = onnx.node "BitCast"(%x) {to = 6 : i64} : (tensor<2x3xf32>) -> !onnx.unknown loc("bits_of_data")
  %y1 = onnx.node "BitCast"(%few) {to = 7 : i64} : (tensor<1xf32>) -> !onnx.unknown loc("bits")
  %y2 = onnx.node "BitCast"(%floats) {to = 8 : i64} : (tensor<2xf32>) -> !onnx.unknown loc("no_type")
  %y3 = onnx.node "BitShift"(%i, %i) {direction = "UP"} : (tensor<3xi64>, tensor<3xi64>) -> !onnx.unknown loc("up")
  %y4 = onnx.node "BitShift"(%u, %byte) {direction = "LEFT"} : (tensor<2xui64>, tensor<2xui64>) -> !onnx.unknown loc("unsigned")
  %y5 = onnx.node "HannWindow"(%two) {output_datatype = 6 : i64} : (tensor<i64>) -> !onnx.unknown loc("window_type")
  %y6 = onnx.node "MelWeightMatrix"(%two, %two, %two, %hertz, %low) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> !onnx.unknown loc("bands")
  %y7 = onnx.node "DFT"(%v) : (tensor<6xf32>) -> !onnx.unknown loc("vector")
  %y8 = onnx.node "DFT"(%s, %none, %two) : (tensor<2x6x1xf32>, none, tensor<i64>) -> !onnx.unknown loc("last_axis")
  %y9 = onnx.node "DFT"(%s, %nothing, %one) : (tensor<2x6x1xf32>, tensor<i64>, tensor<i64>) -> !onnx.unknown loc("no_length")
  %y10 = onnx.node "DFT"(%s, %huge, %one) : (tensor<2x6x1xf32>, tensor<i64>, tensor<i64>) -> !onnx.unknown loc("long_transform")
  %y11 = onnx.node "STFT"(%x, %two) : (tensor<2x3xf32>, tensor<i64>) -> !onnx.unknown loc("matrix")
  %y12 = onnx.node "STFT"(%s, %two, %none, %huge) : (tensor<2x6x1xf32>, tensor<i64>, none, tensor<i64>) -> !onnx.unknown loc("long_frames")
  %y13 = onnx.node "STFT"(%s, %two, %floats, %one) : (tensor<2x6x1xf32>, tensor<i64>, tensor<2xf32>, tensor<i64>) -> !onnx.unknown loc("window")
  %y14 = onnx.node "LinearAttention"(%x, %x, %x) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown loc("ranks")
  %y15 = onnx.node "LinearAttention"(%q, %kk, %kk) {q_num_heads = 3 : i64, kv_num_heads = 2 : i64} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> !onnx.unknown loc("heads")
  %y16 = onnx.node "LinearAttention"(%q, %kl, %kk) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64} : (tensor<2x4x4xf32>, tensor<2x5x2xf32>, tensor<2x4x2xf32>) -> !onnx.unknown loc("keys")
  %y17 = onnx.node "LinearAttention"(%q, %kk, %kk) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "slow"} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> !onnx.unknown loc("rule")
  %y18 = onnx.node "LinearAttention"(%q, %kk, %kk) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "gated"} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>) -> !onnx.unknown loc("no_decay")
  %y19 = onnx.node "LinearAttention"(%q, %kk, %kk, %none, %d3) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "gated"} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, none, tensor<2x4x3xf32>) -> !onnx.unknown loc("decay")
  %y20 = onnx.node "LinearAttention"(%q, %kk, %kk, %none, %none, %d3) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "delta"} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, none, none, tensor<2x4x3xf32>) -> !onnx.unknown loc("beta")
  %y21 = onnx.node "LinearAttention"(%q, %kk, %kk, %st) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "linear"} : (tensor<2x4x4xf32>, tensor<2x4x2xf32>, tensor<2x4x2xf32>, tensor<2x1x2x3xf32>) -> !onnx.unknown loc("past")
  %y22 = onnx.node "LinearAttention"(%ql, %kkl, %kkl, %none, %none, %bl) {q_num_heads = 2 : i64, kv_num_heads = 1 : i64, update_rule = "delta"} : (tensor<1x70000x4xf32>, tensor<1x70000x2xf32>, tensor<1x70000x2xf32>, none, none, tensor<1x70000x1xf32>) -> !onnx.unknown loc("tokens")
  %y23 = onnx.node "CausalConvWithState"(%s, %cwide) : (tensor<2x6x1xf32>, tensor<6x1x300xf32>) -> !onnx.unknown loc("wide_kernel")
  %y24 = onnx.node "CausalConvWithState"(%s, %cw, %cb) : (tensor<2x6x1xf32>, tensor<6x1x3xf32>, tensor<5xf32>) -> !onnx.unknown loc("bias")
  %y25 = onnx.node "CausalConvWithState"(%s, %cw, %none, %cp) : (tensor<2x6x1xf32>, tensor<6x1x3xf32>, none, tensor<2x6x3xf32>) -> !onnx.unknown loc("state")
  %y26 = onnx.node "CausalConvWithState"(%s, %cw) {activation = "relu"} : (tensor<2x6x1xf32>, tensor<6x1x3xf32>) -> !onnx.unknown loc("activation")
  %y27 = onnx.node "TensorScatter"(%cache, %update) : (tensor<2x5x3xf32>, tensor<2x6x3xf32>) -> !onnx.unknown loc("update")
  %y28 = onnx.node "TensorScatter"(%cache, %up2) {mode = "ring"} : (tensor<2x5x3xf32>, tensor<2x2x3xf32>) -> !onnx.unknown loc("mode")
  %y29 = onnx.node "TensorScatter"(%cache, %up2, %i) : (tensor<2x5x3xf32>, tensor<2x2x3xf32>, tensor<3xi64>) -> !onnx.unknown loc("indices")
  %y30 = onnx.node "Det"(%x) : (tensor<2x3xf32>) -> !onnx.unknown loc("not_square")
  %y31 = onnx.node "RoiAlign"(%im, %x, %i) : (tensor<1x2x4x4xf32>, tensor<2x3xf32>, tensor<3xi64>) -> !onnx.unknown loc("regions")
  %y32 = onnx.node "RoiAlign"(%im, %rois, %i) {mode = "median"} : (tensor<1x2x4x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("mode")
  %y33 = onnx.node "RoiAlign"(%im, %rois, %i) : (tensor<1x2x4x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("adaptive")
  %y34 = onnx.node "RoiAlign"(%im, %rois, %i) {sampling_ratio = 300 : i64} : (tensor<1x2x4x4xf32>, tensor<3x4xf32>, tensor<3xi64>) -> !onnx.unknown loc("dense")
  %y35 = onnx.node "DeformConv"(%im, %dw3, %off) : (tensor<1x2x4x4xf32>, tensor<2x2x2xf32>, tensor<1x8x3x3xf32>) -> !onnx.unknown loc("line")
  %y36 = onnx.node "DeformConv"(%im, %dw, %off) {strides = array<i64: 1>} : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<1x8x3x3xf32>) -> !onnx.unknown loc("strides")
  %y37 = onnx.node "DeformConv"(%im, %dw1, %off) : (tensor<1x2x4x4xf32>, tensor<2x1x2x2xf32>, tensor<1x8x3x3xf32>) -> !onnx.unknown loc("groups")
  %y38 = onnx.node "DeformConv"(%im, %dw, %off4) : (tensor<1x2x4x4xf32>, tensor<2x2x2x2xf32>, tensor<1x8x4x3xf32>) -> !onnx.unknown loc("offsets")
  %y39 = onnx.node "QuantizeLinear"(%x, %sc2) {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2xf32>) -> !onnx.unknown loc("scales")
  %y40 = onnx.node "QuantizeLinear"(%x, %sc1, %e8) : (tensor<2x3xf32>, tensor<f32>, tensor<f8E8M0FNU>) -> !onnx.unknown loc("no_format")
  %y41 = onnx.node "QuantizeLinear"(%x, %sc1) {output_dtype = 7 : i64} : (tensor<2x3xf32>, tensor<f32>) -> !onnx.unknown loc("no_output")
  %y42 = onnx.node "DequantizeLinear"(%x, %sc1) {output_dtype = 6 : i64} : (tensor<2x3xf32>, tensor<f32>) -> !onnx.unknown loc("output")
  %y43 = onnx.node "MatMulInteger"(%b, %matrix, %bytes) : (tensor<2x3xi8>, tensor<3x3xi8>, tensor<3xui8>) -> !onnx.unknown loc("zero")
  %y44 = onnx.node "QLinearMatMul"(%b, %third, %zero8, %matrix, %third, %zero8, %sc2, %zero8) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<3x3xi8>, tensor<f32>, tensor<i8>, tensor<2xf32>, tensor<i8>) -> !onnx.unknown loc("result")
  %y45 = onnx.node "QLinearMatMul"(%b, %third, %zero8, %matrix, %third, %zero8, %third, %zero32) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>, tensor<3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i32>) -> !onnx.unknown loc("wide_zero")
  %y46 = onnx.node "QLinearMatMul"(%b, %sc3, %zero8, %matrix, %third, %zero8, %third, %zero8) : (tensor<2x3xi8>, tensor<3xf32>, tensor<i8>, tensor<3x3xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>) -> !onnx.unknown loc("fit")
  %y47 = onnx.node "QLinearConv"(%image8, %third, %zero8, %kernel, %third, %zero8, %third, %zero8, %bias) : (tensor<1x2x3x3xi8>, tensor<f32>, tensor<i8>, tensor<5x2x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>, tensor<4xi32>) -> !onnx.unknown loc("channels")
  %out = onnx.node "Frobnicate"(%x) : (tensor<2x3xf32>) -> !onnx.unknown loc("frob")
  onnx.return %out : !onnx.unknown
}

// -----

onnx.graph @g(%im: tensor<1x2x4x4xf32>, %rois: tensor<1099511627776x4xf32>, %ids: tensor<1099511627776xi64>, %q: tensor<1x1x1099511627776xf32>, %signal: tensor<1099511627776x64x1xf32>, %spectra: tensor<1099511627776x1x1xf32>, %deep: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x1xf32>, %empty: tensor<0x3x3xf32>, %tall: tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x20000x2xf32>) -> !onnx.unknown attributes {inputNames = ["im", "rois", "ids", "q", "signal", "spectra", "deep", "empty", "tall"], opsets = {ai.onnx = 28 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %one = onnx.initializer "one" = dense<1> : tensor<i64>
  %window = onnx.initializer "window" = dense<32> : tensor<i64>
  %long = onnx.initializer "long" = dense<1000> : tensor<i64>
  %sizes = onnx.initializer "sizes" = dense<8> : tensor<2xi64>
  %size = onnx.initializer "size" = dense<8> : tensor<1xi64>
  %nothing = onnx.initializer "nothing" = dense<0> : tensor<i64>
  %huge = onnx.initializer "huge" = dense<1099511627776> : tensor<i64>
  %low = onnx.initializer "low" = dense<50.0> : tensor<f32>
  %high = onnx.initializer "high" = dense<100.0> : tensor<f32>
  %0 = onnx.node "RoiAlign"(%im, %rois, %ids) : (tensor<1x2x4x4xf32>, tensor<1099511627776x4xf32>, tensor<1099511627776xi64>) -> !onnx.unknown loc("many")
  %1 = onnx.node "LinearAttention"(%q, %q, %q) {q_num_heads = 1 : i64, kv_num_heads = 1 : i64, update_rule = "linear"} : (tensor<1x1x1099511627776xf32>, tensor<1x1x1099511627776xf32>, tensor<1x1x1099511627776xf32>) -> !onnx.unknown loc("state")
  %2 = onnx.node "STFT"(%signal, %one, %none, %window) : (tensor<1099511627776x64x1xf32>, tensor<i64>, none, tensor<i64>) -> !onnx.unknown loc("frames")
  %3 = onnx.node "DFT"(%spectra, %long) : (tensor<1099511627776x1x1xf32>, tensor<i64>) -> !onnx.unknown loc("result")
  %4 = onnx.node "DFT"(%deep) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x1xf32>) -> !onnx.unknown loc("deep")
  %sum_axis = onnx.initializer "sum_axis" = dense<-2> : tensor<i64>
  %deep_sum = onnx.node "CumSum"(%deep, %sum_axis) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x1xf32>, tensor<i64>) -> !onnx.unknown loc("deep_sum")
  %long_sum = onnx.node "CumSum"(%tall, %sum_axis) : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x20000x2xf32>, tensor<i64>) -> !onnx.unknown loc("long_sum")
  %5 = onnx.node "Resize"(%deep, %none, %none, %size) {mode = "linear", axes = array<i64: 0>} : (tensor<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x1xf32>, none, none, tensor<1xi64>) -> !onnx.unknown loc("deep_image")
  %6 = onnx.node "Resize"(%im, %none, %none, %sizes) {axes = array<i64: 2, 2>} : (tensor<1x2x4x4xf32>, none, none, tensor<2xi64>) -> !onnx.unknown loc("twice")
  %7 = onnx.node "Det"(%empty) : (tensor<0x3x3xf32>) -> !onnx.unknown loc("none")
  %8 = onnx.node "MelWeightMatrix"(%nothing, %huge, %one, %low, %high) : (tensor<i64>, tensor<i64>, tensor<i64>, tensor<f32>, tensor<f32>) -> !onnx.unknown loc("bins")
  onnx.return %8 : !onnx.unknown
}
