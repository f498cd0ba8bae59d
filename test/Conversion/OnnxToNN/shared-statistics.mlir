// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s
// RUN: gpuopt-opt %s -convert-onnx-to-nn="batch-norm=frozen" | FileCheck %s --check-prefix=FROZEN
// RUN: gpuopt-opt %s -convert-onnx-to-nn -train-build-step="loss=none" | FileCheck %s --check-prefix=EVALUATED

// The second node reads the statistics that the first one has written, and only
// its own are kept.
// CHECK: %[[MEAN:.*]] = train.read @mean
// CHECK: %[[VARIANCE:.*]] = train.read @variance
// CHECK: %{{.*}}, %[[MEAN1:.*]], %[[VARIANCE1:.*]], %{{.*}}, %{{.*}} = nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN]], %[[VARIANCE]] epsilon
// CHECK: %{{.*}}, %[[MEAN2:.*]], %[[VARIANCE2:.*]], %{{.*}}, %{{.*}} = nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN1]], %[[VARIANCE1]] epsilon
// CHECK-NOT: train.write
// CHECK: train.write @mean, %[[MEAN2]]
// CHECK: train.write @variance, %[[VARIANCE2]]
// CHECK-NOT: train.write

// FROZEN: %[[MEAN:.*]] = train.read @mean
// FROZEN: %[[VARIANCE:.*]] = train.read @variance
// FROZEN-COUNT-2: nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN]], %[[VARIANCE]] epsilon
// FROZEN-NOT: train.write

// Evaluated, both read what is kept.
// EVALUATED-LABEL: train.step @evaluate
// EVALUATED: %[[MEAN:.*]] = train.read @mean
// EVALUATED: %[[VARIANCE:.*]] = train.read @variance
// EVALUATED-COUNT-2: nn.batch_norm %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN]], %[[VARIANCE]] epsilon
onnx.graph @g(%a: tensor<3x2xf32>, %b: tensor<3x2xf32>) -> !onnx.unknown attributes {inputNames = ["a", "b"], opsets = {ai.onnx = 20 : i64}, outputNames = ["loss"]} {
  %scale = onnx.initializer "scale" = dense<[1.0, 2.0]> : tensor<2xf32>
  %bias = onnx.initializer "bias" = dense<[0.0, 1.0]> : tensor<2xf32>
  %mean = onnx.initializer "mean" = dense<[0.0, 0.5]> : tensor<2xf32>
  %variance = onnx.initializer "variance" = dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = onnx.node "BatchNormalization"(%a, %scale, %bias, %mean, %variance) {momentum = 0.9 : f32} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !onnx.unknown
  %1 = onnx.node "BatchNormalization"(%b, %scale, %bias, %mean, %variance) {momentum = 0.9 : f32} : (tensor<3x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> !onnx.unknown
  %2 = onnx.node "Mul"(%0, %1) : (!onnx.unknown, !onnx.unknown) -> !onnx.unknown
  %3 = onnx.node "ReduceSum"(%2) {keepdims = 0 : i64} : (!onnx.unknown) -> !onnx.unknown
  onnx.return %3 : !onnx.unknown
}
