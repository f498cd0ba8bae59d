// RUN: gpuopt-opt %s --train-build-step="loss=mse" | FileCheck %s

// The gradient of a bias that a product adds is the sum over the rows.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[DW:.*]] = nn.contract "tc,td->cd" %{{.*}}, %[[G:.*]] :
// CHECK: %[[SUM:.*]] = nn.reduce sum %[[G]] [0] : tensor<4x3xf32>
// CHECK: %[[DB:.*]] = nn.reshape %[[SUM]] : tensor<1x3xf32> to tensor<3xf32>
// CHECK: train.grad_norm %[[DW]], %[[DB]]
train.variable @w parameter : tensor<8x3xf32>
train.variable @b parameter : tensor<3xf32>
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8x3xf32>
  %b = train.read @b : tensor<3xf32>
  %0 = nn.contract "tc,cd->td" %x, %w bias %b : tensor<4x8xf32>, tensor<8x3xf32> bias tensor<3xf32>
  return %0 : tensor<4x3xf32>
}
