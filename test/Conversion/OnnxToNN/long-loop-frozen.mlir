// RUN: gpuopt-opt %s -convert-onnx-to-nn=batch-norm=frozen -verify-nn -verify-diagnostics | FileCheck %s

// A batch norm by its running statistics is the same in all iterations, so that
// the loop stays one. What it does to a tensor from outside is done once.
// CHECK-LABEL: func.func @forward
// CHECK: nn.batch_norm {{.*}} frozen : tensor<65x3xf32>
// CHECK: nn.scan 65
// CHECK: nn.batch_norm {{.*}} frozen : tensor<2x3xf32>
// CHECK: nn.yield
onnx.graph @g(%h: tensor<2x3xf32>, %x: tensor<65x3xf32>) -> !onnx.unknown attributes {inputNames = ["h", "x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["last"]} {
  %trips = onnx.initializer "trips" = dense<65> : tensor<i64>
  %scale = onnx.initializer "scale" at <"w.bin", offset = 0, size = 12> : tensor<3xf32>
  %bias = onnx.initializer "bias" at <"w.bin", offset = 12, size = 12> : tensor<3xf32>
  %mean = onnx.initializer "mean" at <"w.bin", offset = 24, size = 12> : tensor<3xf32>
  %var = onnx.initializer "var" at <"w.bin", offset = 36, size = 12> : tensor<3xf32>
  %none = onnx.none : none
  %r = onnx.node "Loop"(%trips, %none, %h) {body} : (tensor<i64>, none, tensor<2x3xf32>) -> !onnx.unknown {
  ^bb0(%i: tensor<i64>, %go: tensor<i1>, %hi: tensor<2x3xf32>):
    %all = onnx.node "BatchNormalization"(%x, %scale, %bias, %mean, %var) : (tensor<65x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
    %row = onnx.node "Gather"(%all, %i) : (!onnx.unknown, tensor<i64>) -> !onnx.unknown
    %sum = onnx.node "Add"(%hi, %row) : (tensor<2x3xf32>, !onnx.unknown) -> !onnx.unknown
    %next = onnx.node "BatchNormalization"(%sum, %scale, %bias, %mean, %var) : (!onnx.unknown, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> !onnx.unknown
    onnx.return %go, %next : tensor<i1>, !onnx.unknown
  }
  onnx.return %r : !onnx.unknown
}
