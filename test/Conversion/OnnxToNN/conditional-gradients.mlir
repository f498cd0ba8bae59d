// RUN: gpuopt-opt %s -convert-onnx-to-nn | FileCheck %s
// RUN: gpuopt-opt %s -convert-onnx-to-nn -train-build-step="loss=none" -canonicalize -cse | FileCheck %s --check-prefix=STEP
// RUN: gpuopt-opt %s -convert-onnx-to-nn -train-build-step="inference=true" -canonicalize -cse | FileCheck %s --check-prefix=INFERENCE

// The root of what is below 0 is not selected, but its gradient would be NaN,
// and 0 times that. So a gradient leaves a branch where that is taken alone; the
// forward is that of both branches.
// CHECK-LABEL: func.func @forward
// CHECK: %[[W:.*]] = train.read @w
// CHECK: %[[C:.*]] = arith.cmpf ogt
// CHECK: %[[STOPPED:.*]] = nn.concat %[[W]] dim 0 {nn.stops_gradient}
// CHECK: %[[THEN:.*]] = arith.select %{{.*}}, %[[W]], %[[STOPPED]]
// CHECK: math.sqrt %[[THEN]]
// CHECK: %[[ALSO:.*]] = nn.concat %[[W]] dim 0 {nn.stops_gradient}
// CHECK: %[[ELSE:.*]] = arith.select %{{.*}}, %[[ALSO]], %[[W]]
// CHECK: arith.negf %[[ELSE]]

// STEP-LABEL: train.step @micro_step
// STEP: %[[W:.*]] = train.read @w
// STEP: %[[ROOT:.*]] = math.sqrt %[[W]]
// STEP: %[[SLOPE:.*]] = arith.divf %{{.*}}, %[[ROOT]]
// STEP: %[[DW:.*]] = arith.select %{{.*}}, %[[SLOPE]], %{{.*}}
// STEP: arith.addf %{{.*}}, %[[DW]]

// INFERENCE-LABEL: train.step @forward_step
// INFERENCE: %[[W:.*]] = train.read @w
// INFERENCE: math.sqrt %[[W]]
// INFERENCE: arith.negf %[[W]]
// INFERENCE-COUNT-1: arith.select
// INFERENCE-NOT: arith.select
onnx.graph @g(%x: tensor<1xf32>) -> !onnx.unknown attributes {inputNames = ["x"], opsets = {ai.onnx = 20 : i64}, outputNames = ["y"]} {
  %w = onnx.initializer "w" = dense<[1.0, 2.0]> : tensor<2xf32>
  %zero = onnx.initializer "zero" = dense<0.0> : tensor<f32>
  %c = onnx.node "Greater"(%x, %zero) : (tensor<1xf32>, tensor<f32>) -> !onnx.unknown
  %y = onnx.node "If"(%c) {else_branch, then_branch} : (!onnx.unknown) -> !onnx.unknown {
    %0 = onnx.node "Neg"(%w) : (tensor<2xf32>) -> !onnx.unknown
    onnx.return %0 : !onnx.unknown
  }, {
    %0 = onnx.node "Sqrt"(%w) : (tensor<2xf32>) -> !onnx.unknown
    onnx.return %0 : !onnx.unknown
  }
  onnx.return %y : !onnx.unknown
}
