// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s

// Max and Min with constants are torch.clamp, which passes the gradient on at
// its bounds; a Relu or Clip does not, nor do two values.
// CHECK: arith.maximumf %{{.*}} {nn.passes_at_bound} : tensor<2x3xf32>
// CHECK: arith.minimumf %{{.*}} {nn.passes_at_bound} : tensor<2x3xf32>
// CHECK: arith.maximumf %arg0, %arg1 : tensor<2x3xf32>
// CHECK: arith.maximumf %arg0, %{{.*}} : tensor<2x3xf32>
// CHECK: arith.maximumf %arg0, %{{.*}} : tensor<2x3xf32>
// CHECK: arith.minimumf %{{.*}} : tensor<2x3xf32>
// CHECK: return
onnx.graph @g(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "y"], opsets = {ai.onnx = 20 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %zero = onnx.initializer "zero" = dense<0.0> : tensor<f32>
  %one = onnx.initializer "one" = dense<1.0> : tensor<f32>
  %row = onnx.node "Constant"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> !onnx.unknown
  %above = onnx.node "Max"(%zero, %x) : (tensor<f32>, tensor<2x3xf32>) -> !onnx.unknown
  %a = onnx.node "Min"(%row, %above) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %b = onnx.node "Max"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> !onnx.unknown
  %c = onnx.node "Relu"(%x) : (tensor<2x3xf32>) -> !onnx.unknown
  %d = onnx.node "Clip"(%x, %zero, %one) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}
