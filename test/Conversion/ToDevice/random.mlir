// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-materialize-views -train-plan-memory -convert-to-device -verify-device -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: gpuopt-translate --device-to-cxx %t | FileCheck %s --check-prefix=CXX

// A draw is a number of the step, of the stream and of the element. Neighbours
// that begin at a multiple of four have whole calls of the generator.
// CHECK-LABEL: device.kernel
// CHECK-SAME: ["x", "{{.*}}", "state"]
// CHECK: device.loop lanes
// CHECK: %[[AT:.*]] = device.position{{.*}} contiguous aligned 16
// CHECK: %[[U:.*]] = device.random %{{.*}}, %[[AT]] stream 7 : f32
// CHECK: arith.cmpf oge, %[[U]]
// CXX: random_uniform_vector(state_->seed, 7, state_->draw, i)

// Rows of 15 begin anywhere; what is drawn once for a row is one number.
// CHECK: device.position{{.*}} contiguous
// CHECK-NOT: aligned
// CHECK: stream 8
// CXX: random_uniform(state_->seed, 9, state_->draw, b)
// CXX: random_uniform_from(state_->seed, 8, state_->draw, b * 15 + i)
train.step @s micro ("x" %x: tensor<4x16xf32>, "y" %y: tensor<4x15xf32>) {
  %u = nn.random_uniform stream 7 : tensor<4x16xf32>
  %c = arith.constant dense<0.5> : tensor<4x16xf32>
  %zero = arith.constant dense<0.0> : tensor<4x16xf32>
  %kept = arith.cmpf oge, %u, %c : tensor<4x16xf32>
  %z = arith.select %kept, %x, %zero : tensor<4x16xi1>, tensor<4x16xf32>
  train.output "z", %z : tensor<4x16xf32>
  %v = nn.random_uniform stream 8 : tensor<4x15xf32>
  %r = nn.random_uniform stream 9 : tensor<4x1xf32>
  %rb = nn.broadcast %r : tensor<4x1xf32> to tensor<4x15xf32>
  %a = arith.mulf %v, %y : tensor<4x15xf32>
  %b = arith.addf %a, %rb : tensor<4x15xf32>
  train.output "b", %b : tensor<4x15xf32>
}
