// RUN: gpuopt-opt %s -train-build-step="loss=none optimizer=sgd" | FileCheck %s

// A slice of no elements covers none, whatever its strides are: its gradient is
// padded to the operand's size.
// CHECK-LABEL: train.step @micro_step
// CHECK: nn.pad %{{.*}} low [0, 3] high [0, 3] interior [0, 1] value 0.000000e+00 : f32 : tensor<4x0xf32>
// CHECK: train.update "sgd" @w
train.variable @w parameter : tensor<4x6xf32>
func.func @forward(%x: tensor<4x4xf32> {nn.name = "x"}) -> (tensor<1x1xf32> {nn.name = "loss"}) {
  %w = train.read @w : tensor<4x6xf32>
  %p = nn.slice %w [0, 3] [4, 0] [1, 2] : tensor<4x6xf32>
  %q = nn.contract "ik,jk->ij" %p, %p : tensor<4x0xf32>, tensor<4x0xf32>
  %r = nn.reduce sum %q [0, 1] : tensor<4x4xf32>
  return %r : tensor<1x1xf32>
}
