// RUN: gpuopt-opt %s -split-input-file -convert-onnx-to-nn | FileCheck %s

// Scales are no parameter, though they are numbers in a file.
// CHECK-NOT: train.variable

// Whole multiples repeat elements.
// CHECK: nn.broadcast %{{.*}} : tensor<1x2x3x1x4xf32> to tensor<1x2x3x2x4xf32>
// CHECK: nn.broadcast %{{.*}} : tensor<1x2x6x4x1xf32> to tensor<1x2x6x4x2xf32>
// Whole fractions leave elements out: of 4, by half_pixel and rounding down, 0 and 2.
// CHECK: nn.slice %arg0 [0, 0, 0, 0] [1, 2, 3, 2] [1, 1, 1, 2]
// Others gather: columns 0, 0, 1, 2, 3 of 4.
// CHECK: %[[PICKED:.*]] = arith.constant dense<[0, 0, 1, 2, 3]>
// CHECK: nn.take %{{.*}}, %[[PICKED]]
// Linear interpolation is a product with weights that the program makes.
// CHECK: math.absf
// CHECK: %[[WEIGHTS:.*]] = arith.maximumf %{{.*}}, %{{.*}} : tensor<8x4xf32>
// CHECK: nn.contract "abcd,zd->abcz" %arg0, %[[WEIGHTS]]
onnx.graph @g(%x: tensor<1x2x3x4xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %none = onnx.none : none
  %twice = onnx.initializer "twice" = dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %half = onnx.initializer "half" = dense<[1.0, 1.0, 1.0, 0.5]> : tensor<4xf32>
  %five = onnx.initializer "five" = dense<[1, 2, 3, 5]> : tensor<4xi64>
  %wide = onnx.initializer "wide" = dense<[1, 2, 3, 8]> : tensor<4xi64>
  %a = onnx.node "Resize"(%x, %none, %twice) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x3x4xf32>, none, tensor<4xf32>) -> !onnx.unknown
  %b = onnx.node "Resize"(%x, %none, %half) : (tensor<1x2x3x4xf32>, none, tensor<4xf32>) -> !onnx.unknown
  %c = onnx.node "Resize"(%x, %none, %none, %five) {coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"} : (tensor<1x2x3x4xf32>, none, none, tensor<4xi64>) -> !onnx.unknown
  %d = onnx.node "Resize"(%x, %none, %none, %wide) {mode = "linear"} : (tensor<1x2x3x4xf32>, none, none, tensor<4xi64>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// The size is the product of size and scale as floats: 10 * 0.7 is 7.
// CHECK: nn.contract {{.*}} : tensor<1x1x10x10xf32>, tensor<7x10xf32>
onnx.graph @rounded(%x: tensor<1x1x10x10xf32>) -> (!onnx.unknown) attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %none = onnx.none : none
  %scales = onnx.initializer "scales" = dense<[1.0, 1.0, 0.7, 1.0]> : tensor<4xf32>
  %y = onnx.node "Resize"(%x, %none, %scales) {mode = "linear"} : (tensor<1x1x10x10xf32>, none, tensor<4xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
