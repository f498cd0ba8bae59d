// RUN: gpuopt-opt %s -canonicalize -train-build-step="loss=none optimizer=sgd" | FileCheck %s
// RUN: gpuopt-opt %s -canonicalize -train-build-step="loss=none optimizer=sgd" -canonicalize | FileCheck %s --check-prefix=FOLDED

// y = w * stopped(w) has the gradient stopped(w), not 2 w. What stops it stays
// until the backward is built, and then folds.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[W:.*]] = train.read @w
// CHECK: %[[STOPPED:.*]] = nn.concat %[[W]] dim 0 : tensor<4xf32>
// CHECK: arith.mulf %[[W]], %[[STOPPED]]
// CHECK: %[[DW:.*]] = arith.mulf %{{.*}}, %[[STOPPED]]
// CHECK-NOT: arith.addf
// CHECK: train.update "sgd" @w, %[[DW]]
// FOLDED: train.step @micro_step
// FOLDED-NOT: nn.concat
train.variable @w parameter : tensor<4xf32>
func.func @forward(%x: tensor<4xf32> {nn.name = "x"}) -> (tensor<1xf32> {nn.name = "loss"}) {
  %w = train.read @w : tensor<4xf32>
  %stopped = nn.concat %w dim 0 {nn.stops_gradient} : tensor<4xf32>
  %0 = arith.mulf %w, %stopped : tensor<4xf32>
  %1 = nn.reduce sum %0 [0] : tensor<4xf32>
  return %1 : tensor<1xf32>
}
