// RUN: gpuopt-opt %s -split-input-file --kernels-materialize-views --train-plan-memory --convert-to-device --verify-device | FileCheck %s

// An output that begins with an input along one dimension: its copy is a step of
// its own, so that a program that keeps the output where it is need not make it.
// CHECK: device.buffer @past input {{.*}} : tensor<2x3x4xf32> {{.*}}placedIn = @present
// CHECK: device.buffer @new input
// CHECK-NOT: placedIn
// CHECK-LABEL: device.step @place_inputs place_inputs
// CHECK: %[[FROM:.*]] = device.address @past :
// CHECK: %[[TO:.*]] = device.address @present :
// CHECK: device.launch {{.*}}(%[[FROM]], %[[TO]])
// CHECK-LABEL: device.step @cache forward
// CHECK-NOT: @past
// CHECK: device.address @new :
// CHECK: device.address @present + 12 :
// CHECK: device.launch
// CHECK-NOT: device.launch
train.step @cache forward ("past" %past: tensor<2x3x4xf32>, "new" %new: tensor<2x1x4xf32>) {
  %0 = nn.concat %past, %new dim 1 : tensor<2x3x4xf32>, tensor<2x1x4xf32>
  train.output "present", %0 : tensor<2x4x4xf32>
}

// -----

// Nothing is placed if something else reads the input, if the input does not come
// first, or if the output has another shape.
// CHECK: device.memory
// CHECK-NOT: place
// CHECK: device.step @others forward
// CHECK-NOT: place
// CHECK: module
train.step @others forward ("read" %read: tensor<2x3x4xf32>, "last" %last: tensor<2x3x4xf32>, "flat" %flat: tensor<2x3x4xf32>,
                            "new" %new: tensor<2x1x4xf32>) {
  %0 = nn.concat %read, %new dim 1 : tensor<2x3x4xf32>, tensor<2x1x4xf32>
  train.output "a", %0 : tensor<2x4x4xf32>
  %1 = nn.fused "exp" %read : tensor<2x3x4xf32> -> tensor<2x3x4xf32> {
  ^bb0(%x: tensor<2x3x4xf32>):
    %e = math.exp %x : tensor<2x3x4xf32>
    nn.yield %e : tensor<2x3x4xf32>
  }
  train.output "b", %1 : tensor<2x3x4xf32>
  %2 = nn.concat %new, %last dim 1 : tensor<2x1x4xf32>, tensor<2x3x4xf32>
  train.output "c", %2 : tensor<2x4x4xf32>
  %3 = nn.concat %flat, %new dim 1 : tensor<2x3x4xf32>, tensor<2x1x4xf32>
  %4 = nn.reshape %3 : tensor<2x4x4xf32> to tensor<8x4xf32>
  train.output "d", %4 : tensor<8x4xf32>
}

// -----

// A tensor called like the step.
// CHECK: device.step @place_inputs_2 place_inputs
train.step @named forward ("place_inputs" %past: tensor<3x4xf32>, "new" %new: tensor<1x4xf32>) {
  %0 = nn.concat %past, %new dim 0 : tensor<3x4xf32>, tensor<1x4xf32>
  train.output "present", %0 : tensor<4x4xf32>
}
