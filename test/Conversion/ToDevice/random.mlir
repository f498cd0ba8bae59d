// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-materialize-views -train-plan-memory -convert-to-device -verify-device | FileCheck %s

// A draw is a number of the step, of the stream and of the element.
// CHECK-LABEL: device.kernel
// CHECK-SAME: ["x", "{{.*}}", "state"]
// CHECK: device.loop lanes
// CHECK: %[[AT:.*]] = device.position
// CHECK: %[[U:.*]] = device.random %{{.*}}, %[[AT]] stream 7 : f32
// CHECK: arith.cmpf oge, %[[U]]
train.step @s micro ("x" %x: tensor<4x16xf32>) {
  %u = nn.random_uniform stream 7 : tensor<4x16xf32>
  %c = arith.constant dense<0.5> : tensor<4x16xf32>
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %kept = arith.cmpf oge, %u, %c : tensor<4x16xf32>
  %y = arith.select %kept, %x, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  train.output "y", %y : tensor<4x16xf32>
}
