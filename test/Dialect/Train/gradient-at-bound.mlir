// RUN: gpuopt-opt %s -train-build-step="loss=none optimizer=sgd" | FileCheck %s

// The gradient passes where w >= 0, and behind that where it is above 0: what is
// kept of the first maximum is its operand, of the second its result.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[W:.*]] = train.read @w
// CHECK: %[[AT:.*]] = arith.maximumf %[[W]], %{{.*}} {nn.passes_at_bound}
// CHECK: %[[ABOVE:.*]] = arith.maximumf %{{.*}}, %{{.*}} : tensor<4xf32>
// CHECK: arith.cmpf ogt, %[[ABOVE]], %{{.*}}
// CHECK: arith.cmpf oge, %[[W]], %{{.*}}
train.variable @w parameter : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<1xf32> {nn.name = "loss"}) {
  %w = train.read @w : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %at = arith.maximumf %w, %zero {nn.passes_at_bound} : tensor<4xf32>
  %0 = arith.mulf %at, %x : tensor<4xf32>
  %above = arith.maximumf %0, %zero : tensor<4xf32>
  %1 = nn.reduce sum %above [0] : tensor<4xf32>
  return %1 : tensor<1xf32>
}
