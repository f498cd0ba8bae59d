// RUN: gpuopt-opt %s -split-input-file -train-build-step="loss=none optimizer=sgd" | FileCheck %s

// The loss reads the running variance that a convolution and its batch norm
// return: with 32 pixels and a momentum of 0.25, the variance of the batch has
// 0.25 * 32/31 of its gradient, and each pixel twice its distance from the mean.
// CHECK-LABEL: train.step @micro_step
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]], %[[INPUT_MEAN:.*]], %[[MOMENTS:.*]] = nn.conv_batch_norm
// CHECK-DAG: %[[SHARE:.*]] = arith.constant dense<0.258064508> : tensor<16xf32>
// CHECK-DAG: %[[OF_NEW:.*]] = arith.mulf %{{.*}}, %[[SHARE]] : tensor<16xf32>
// CHECK: %[[DV:.*]] = nn.reshape %[[OF_NEW]] : tensor<16xf32> to tensor<16x1xf32>
// CHECK: %[[TWICE:.*]] = arith.mulf %[[DV]], %{{.*}} : tensor<16x1xf32>
// CHECK: %[[T:.*]] = arith.addf %{{.*}}, %[[TWICE]] : tensor<16x1xf32>
// CHECK: arith.mulf %[[T]], %[[MEAN]] : tensor<16x1xf32>
// CHECK: %[[DW:.*]] = nn.reshape %{{.*}} : tensor<16x8xf32> to tensor<16x8x1x1xf32>
// CHECK: train.update "sgd" @w, %[[DW]]
train.variable @w parameter : tensor<16x8x1x1xf32>
train.variable @mean buffer : tensor<16xf32>
train.variable @variance buffer : tensor<16xf32>
func.func @forward(%x: tensor<2x4x4x8xf32> {nn.name = "x"}) -> (tensor<1xf32> {nn.name = "loss"}) {
  %w = train.read @w : tensor<16x8x1x1xf32>
  %mean = train.read @mean : tensor<16xf32>
  %variance = train.read @variance : tensor<16xf32>
  %ones = arith.constant dense<1.0> : tensor<16xf32>
  %0:7 = nn.conv_batch_norm %x, %w, %ones, %ones, %mean, %variance epsilon 1.0e-5 momentum 0.25
      : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %1 = nn.reduce sum %0#2 [0] : tensor<16xf32>
  return %1 : tensor<1xf32>
}

// -----

// The gradients of both statistics reach the input as well: that of the variance
// by the square of the weights, and that of the mean, with the distance from the
// mean, as one shift of all pixels.
// CHECK-LABEL: train.step @micro_step
// CHECK: %{{.*}}, %{{.*}}, %{{.*}}, %[[MEAN:.*]], %[[RSTD:.*]], %{{.*}}, %{{.*}} = nn.conv_batch_norm
// CHECK: %[[DMEAN:.*]] = nn.reshape %{{.*}} : tensor<16xf32> to tensor<16x1xf32>
// CHECK: %[[DV:.*]] = nn.reshape %{{.*}} : tensor<16xf32> to tensor<16x1xf32>
// CHECK: %[[TWICE:.*]] = arith.mulf %[[DV]], %{{.*}} : tensor<16x1xf32>
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[RSTD]], %[[RSTD]] : tensor<16x1xf32>
// CHECK: %[[PART:.*]] = arith.divf %[[TWICE]], %[[SQUARE]] : tensor<16x1xf32>
// CHECK: %[[FACTOR:.*]] = arith.subf %{{.*}}, %[[PART]] : tensor<16x1xf32>
// CHECK: %[[T:.*]] = arith.addf %{{.*}}, %[[TWICE]] : tensor<16x1xf32>
// CHECK: %[[AWAY:.*]] = arith.mulf %[[T]], %[[MEAN]] : tensor<16x1xf32>
// CHECK: %[[SUM:.*]] = arith.addf %{{.*}}, %[[AWAY]] : tensor<16x1xf32>
// CHECK: %[[SHIFT:.*]] = arith.negf %[[SUM]] : tensor<16x1xf32>
// CHECK: %[[U:.*]] = arith.addf %[[SHIFT]], %[[DMEAN]] : tensor<16x1xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[FACTOR]], %{{.*}} : tensor<16x1xf32>
// CHECK: nn.contract "oc,od->cd"
// CHECK: arith.mulf %[[U]], %{{.*}} : tensor<16x1xf32>
// CHECK: train.update "sgd" @x
train.variable @x parameter : tensor<2x4x4x8xf32>
train.variable @w parameter : tensor<16x8x1x1xf32>
train.variable @mean buffer : tensor<16xf32>
train.variable @variance buffer : tensor<16xf32>
func.func @forward() -> (tensor<1xf32> {nn.name = "loss"}) {
  %x = train.read @x : tensor<2x4x4x8xf32>
  %w = train.read @w : tensor<16x8x1x1xf32>
  %mean = train.read @mean : tensor<16xf32>
  %variance = train.read @variance : tensor<16xf32>
  %ones = arith.constant dense<1.0> : tensor<16xf32>
  %0:7 = nn.conv_batch_norm %x, %w, %ones, %ones, %mean, %variance epsilon 1.0e-5 momentum 0.25
      : tensor<2x4x4x8xf32>, tensor<16x8x1x1xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<16xf32>
  %1 = nn.reduce sum %0#1 [0] : tensor<16xf32>
  %2 = nn.reduce sum %0#2 [0] : tensor<16xf32>
  %3 = arith.addf %1, %2 : tensor<1xf32>
  return %3 : tensor<1xf32>
}
