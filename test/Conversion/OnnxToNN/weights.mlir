// RUN: gpuopt-opt %s -convert-onnx-to-nn="frozen-params=^emb" | FileCheck %s
// RUN: gpuopt-opt %s -convert-onnx-to-nn="frozen-params=^e\w+" | FileCheck %s
// RUN: gpuopt-opt %s -convert-onnx-to-nn="frozen-params=. trained-params=^bn|table" | FileCheck %s --check-prefix=BUT

// All are frozen but for exceptions; statistics stay what they are.
// BUT-DAG: train.variable @emb.weight frozen
// BUT-DAG: train.variable @bn.scale parameter
// BUT-DAG: train.variable @bn.mean buffer
// BUT-DAG: train.variable @table parameter
// BUT-DAG: train.variable @temperature frozen

// Two names for one place are one variable; statistics are buffers; integers
// and single numbers are constants.
// CHECK-DAG: train.variable @emb.weight frozen : tensor<16x4xf32> {file = "m.onnx", offset = 0 : i64, savedAs = ["emb.weight", "head.weight"], sizeInBytes = 256 : i64}
// CHECK-DAG: train.variable @bn.scale parameter : tensor<2xf32>
// CHECK-DAG: train.variable @bn.mean buffer : tensor<2xf32>
// What the file says of an initializer holds.
// CHECK-DAG: train.variable @table frozen : tensor<2xf32>
// CHECK-DAG: train.variable @temperature parameter : tensor<f32>
// Other names of a tensor in the exported module: what gpuopt.export notes, and
// TorchScript's Identity; but not a value's name, nor another initializer's.
// CHECK-DAG: train.variable @decoder.weight frozen : tensor<4xf32> {savedAs = ["decoder.weight", "emb_tokens.weight", "encoder.weight"]
// CHECK-NOT: train.variable @half
// CHECK: nn.batch_norm {{.*}} epsilon {{.*}} momentum 1.000{{.*}}e-01
// CHECK: train.write @bn.mean
onnx.graph @g(%x: tensor<3x2xf32>, %ids: tensor<3xi64>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["x", "ids"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y", "e", "h"]} {
  %emb = onnx.initializer "emb.weight" at <"m.onnx", offset = 0, size = 256> : tensor<16x4xf32>
  %head = onnx.initializer "head.weight" at <"m.onnx", offset = 0, size = 256> : tensor<16x4xf32>
  %scale = onnx.initializer "bn.scale" = dense<1.0> : tensor<2xf32>
  %bias = onnx.initializer "bn.bias" = dense<0.0> : tensor<2xf32>
  %mean = onnx.initializer "bn.mean" = dense<0.0> : tensor<2xf32>
  %var = onnx.initializer "bn.var" = dense<1.0> : tensor<2xf32>
  %half = onnx.initializer "half" = dense<0.5> : tensor<f32>
  %table = onnx.initializer "table" trained false = dense<[1.0, 2.0]> : tensor<2xf32>
  %temperature = onnx.initializer "temperature" trained true = dense<0.5> : tensor<f32>
  %decoder = onnx.initializer "decoder.weight" tied ["emb_tokens.weight", "bn.scale"] = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %encoder = onnx.node "Identity"(%decoder) as ["encoder.weight"] : (tensor<4xf32>) -> !onnx.unknown
  %copy = onnx.node "Identity"(%encoder) as ["/Identity.1_output_0"] : (!onnx.unknown) -> !onnx.unknown
  %alias = onnx.node "Identity"(%decoder) as ["alias_1"] : (tensor<4xf32>) -> !onnx.unknown
  %path = onnx.node "Identity"(%decoder) as ["/layer.0/Identity_output_0"] : (tensor<4xf32>) -> !onnx.unknown
  %s1 = onnx.node "Sum"(%decoder, %copy, %alias, %path) : (tensor<4xf32>, !onnx.unknown, !onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %y = onnx.node "BatchNormalization"(%x, %scale, %bias, %mean, %var) {momentum = 0.9 : f32} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !onnx.unknown
  %y1 = onnx.node "Mul"(%y, %table) : (!onnx.unknown, tensor<2xf32>) -> !onnx.unknown
  %y2 = onnx.node "Mul"(%y1, %temperature) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  %z = onnx.node "Mul"(%y2, %half) : (!onnx.unknown, tensor<f32>) -> !onnx.unknown
  %e = onnx.node "Gather"(%emb, %ids) : (tensor<16x4xf32>, tensor<3xi64>) -> !onnx.unknown
  %t = onnx.node "Transpose"(%head) {perm = array<i64: 1, 0>} : (tensor<16x4xf32>) -> !onnx.unknown
  %l = onnx.node "MatMul"(%e, %t) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %e2 = onnx.node "Add"(%e, %s1) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  onnx.return %z, %e2, %l : !onnx.unknown, !onnx.unknown, !onnx.unknown
}
