// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s

// Two biases of one sum have the same gradient. The norm counts it for each, as
// PyTorch does, and names each, so that a warning of overflow names both once.

train.variable @first parameter : tensor<4xf32>
train.variable @other parameter : tensor<4xf32>
train.variable @second parameter : tensor<4xf32>

// CHECK-LABEL: device.step @micro_step
// CHECK: device.grad_norm {{.*}}["first", "other", "second"]
train.step @micro_step micro ("dy" %dy: tensor<4xf32>, "dx" %dx: tensor<4xf32>) {
  train.grad_norm %dy, %dx, %dy of [@first, @other, @second] : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  train.update "sgd" @first, %dy : tensor<4xf32>
  train.update "sgd" @other, %dx : tensor<4xf32>
  train.update "sgd" @second, %dy : tensor<4xf32>
}
