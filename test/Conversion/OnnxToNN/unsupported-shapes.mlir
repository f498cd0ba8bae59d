// RUN: not gpuopt-opt %s -convert-onnx-to-nn 2>&1 | FileCheck %s

// Operands of wrong shapes: the messages say what the node expects, and what it
// has got.
// CHECK: nodes that cannot be converted:
// CHECK-NEXT: Pad (opset 23) at 'few_pads': operand 1 (pads) must have 4 numbers, two for each dimension, but has 3
// CHECK-NEXT: Pad (opset 23) at 'many_pads': operand 1 (pads) must have 2 numbers, two for each axis, but has 4
// CHECK-NEXT: Pad (opset 23) at 'two_values': operand 2 (constant_value) must be a constant of one element, but has shape [2]
// CHECK-NEXT: Pad (opset 23) at 'variable': operand 2 (constant_value) must be a constant of one element, but has shape [] and is no constant; it depends on input 's', which --constant-input s=FILE.npy makes constant
// CHECK-NEXT: Pad (opset 23) at 'mirror': dimension 0 has no elements, which mode 'reflect' repeats: expects one or more
// CHECK-NEXT: Resize (opset 23) at 'nothing': operand 2 (scales) or 3 (sizes) must be given, but both are missing or empty
// CHECK-NEXT: Resize (opset 23) at 'no_scales': operand 2 (scales) or 3 (sizes) must be given, but both are missing or empty
// CHECK-NEXT: Resize (opset 23) at 'one_scale': operand 2 (scales) must have one number for each of the 2 dimensions that are resized, but has 1
// CHECK-NEXT: Resize (opset 23) at 'three_sizes': operand 3 (sizes) must have one number for each of the 2 dimensions that are resized, but has 3
// CHECK-NEXT: LSTM (opset 23) at 'direction': attribute direction = 'backward' must be forward, reverse or bidirectional
// CHECK-NEXT: LSTM (opset 23) at 'hidden': attribute hidden_size = 3 must be 2, the last dimension of operand 2 (the recurrent weights)
// CHECK-NEXT: LSTM (opset 23) at 'input_weights': operand 1 (the input weights) must have shape [1, 8, 4], but has [1, 6, 4]
// CHECK-NEXT: GRU (opset 23) at 'recurrent_weights': operand 2 (the recurrent weights) must have shape [1, 6, 2], but has [1, 8, 2]
// CHECK-NEXT: RNN (opset 23) at 'biases': operand 3 (the biases) must have shape [1, 4], but has [1, 16]
// CHECK-NEXT: LSTM (opset 23) at 'initial_cell': operand 6 (the initial cell) must have shape [1, 3, 2], but has [1, 8, 4]
// CHECK-NEXT: RNN (opset 23) at 'lengths': operand 4 must be an integer constant once shapes are known; it depends on input 'n', which --constant-input n=FILE.npy makes constant
// CHECK-NEXT: docs/onnx-operators.md
onnx.graph @g(%x: tensor<4x6xf32>, %empty: tensor<0x6xf32>, %s: tensor<f32>, %seq: tensor<5x3x4xf32>, %w8: tensor<1x8x4xf32>, %w6: tensor<1x6x4xf32>, %w2: tensor<1x2x4xf32>, %r8: tensor<1x8x2xf32>, %r2: tensor<1x2x2xf32>, %b16: tensor<1x16xf32>, %n: tensor<3xi32>) -> !onnx.unknown attributes {inputNames = ["x", "empty", "s", "seq", "w8", "w6", "w2", "r8", "r2", "b16", "n"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %one = onnx.initializer "one" = dense<[1]> : tensor<1xi64>
  %three = onnx.initializer "three" = dense<[1, 2, 3]> : tensor<3xi64>
  %four = onnx.initializer "four" = dense<[1, 1, 1, 1]> : tensor<4xi64>
  %pair = onnx.initializer "pair" = dense<[1.0, 2.0]> : tensor<2xf32>
  %single = onnx.initializer "single" = dense<[2.0]> : tensor<1xf32>
  %no_numbers = onnx.initializer "no_numbers" = dense<> : tensor<0xf32>
  %0 = onnx.node "Pad"(%x, %three) : (tensor<4x6xf32>, tensor<3xi64>) -> !onnx.unknown loc("few_pads")
  %1 = onnx.node "Pad"(%x, %four, %none, %one) : (tensor<4x6xf32>, tensor<4xi64>, none, tensor<1xi64>) -> !onnx.unknown loc("many_pads")
  %2 = onnx.node "Pad"(%x, %four, %pair) : (tensor<4x6xf32>, tensor<4xi64>, tensor<2xf32>) -> !onnx.unknown loc("two_values")
  %3 = onnx.node "Pad"(%x, %four, %s) : (tensor<4x6xf32>, tensor<4xi64>, tensor<f32>) -> !onnx.unknown loc("variable")
  %4 = onnx.node "Pad"(%empty, %four) {mode = "reflect"} : (tensor<0x6xf32>, tensor<4xi64>) -> !onnx.unknown loc("mirror")
  %5 = onnx.node "Resize"(%x) : (tensor<4x6xf32>) -> !onnx.unknown loc("nothing")
  %6 = onnx.node "Resize"(%x, %none, %no_numbers) : (tensor<4x6xf32>, none, tensor<0xf32>) -> !onnx.unknown loc("no_scales")
  %7 = onnx.node "Resize"(%x, %none, %single) : (tensor<4x6xf32>, none, tensor<1xf32>) -> !onnx.unknown loc("one_scale")
  %8 = onnx.node "Resize"(%x, %none, %none, %three) : (tensor<4x6xf32>, none, none, tensor<3xi64>) -> !onnx.unknown loc("three_sizes")
  %9 = onnx.node "LSTM"(%seq, %w8, %r8) {direction = "backward"} : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>) -> !onnx.unknown loc("direction")
  %10 = onnx.node "LSTM"(%seq, %w8, %r8) {hidden_size = 3 : i64} : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>) -> !onnx.unknown loc("hidden")
  %11 = onnx.node "LSTM"(%seq, %w6, %r8) : (tensor<5x3x4xf32>, tensor<1x6x4xf32>, tensor<1x8x2xf32>) -> !onnx.unknown loc("input_weights")
  %12 = onnx.node "GRU"(%seq, %w6, %r8) : (tensor<5x3x4xf32>, tensor<1x6x4xf32>, tensor<1x8x2xf32>) -> !onnx.unknown loc("recurrent_weights")
  %13 = onnx.node "RNN"(%seq, %w2, %r2, %b16) : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, tensor<1x16xf32>) -> !onnx.unknown loc("biases")
  %14 = onnx.node "LSTM"(%seq, %w8, %r8, %none, %none, %none, %w8) : (tensor<5x3x4xf32>, tensor<1x8x4xf32>, tensor<1x8x2xf32>, none, none, none, tensor<1x8x4xf32>) -> !onnx.unknown loc("initial_cell")
  %15 = onnx.node "RNN"(%seq, %w2, %r2, %none, %n) : (tensor<5x3x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>, none, tensor<3xi32>) -> !onnx.unknown loc("lengths")
  onnx.return %0 : !onnx.unknown
}
