// RUN: gpuopt-opt %s --train-build-step="loss=mse" | FileCheck %s

// The backward of a loop goes the other way, computes each iteration again from the
// state before it, and takes the gradient of a weight once, as a product of all
// iterations' factors.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[W:.*]] = train.read @w
// CHECK: %[[X:.*]] = nn.contract "tbh,gh->tbg"
// CHECK: %[[H:.*]] = nn.scan 70 slices(%[[X]])
// CHECK: %[[BEFORE:.*]] = nn.slice %[[H]] [0, 0, 0] [70, 4, 8] [1, 1, 1]
// CHECK: %[[D:.*]]:2 = nn.scan 70 reverse slices(%[[X]], %[[BEFORE]], %{{.*}}) states(%{{.*}}) invariants(%[[W]])
// CHECK-NEXT: ^bb0(%[[XI:.*]]: tensor<4x8xf32>, %[[HI:.*]]: tensor<4x8xf32>, %[[DHI:.*]]: tensor<4x8xf32>, %[[DH:.*]]: tensor<4x8xf32>, %[[WI:.*]]: tensor<8x8xf32>):
// CHECK: nn.contract "bh,gh->bg" %[[HI]], %[[WI]]
// CHECK: %[[DSUM:.*]] = arith.mulf %[[DH]], %{{.*}}
// CHECK: %[[BACK:.*]] = nn.contract "bg,gh->bh" %[[DSUM]], %[[WI]]
// CHECK: %[[NEXT:.*]] = arith.addf %[[BACK]], %[[DHI]]
// CHECK: nn.yield %[[NEXT]], %[[DSUM]]
// CHECK: %[[DW:.*]] = nn.contract "abh,abg->gh" %[[BEFORE]], %[[D]]#1
// CHECK: %[[DU:.*]] = nn.contract "tbh,tbg->gh" %{{.*}}, %[[D]]#1
// CHECK: train.grad_norm %[[DW]], %[[DU]]
train.variable @w parameter : tensor<8x8xf32>
train.variable @u parameter : tensor<8x8xf32>
func.func @forward(%x: tensor<70x4x8xf32> {nn.name = "x"}) -> (tensor<4x8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8x8xf32>
  %u = train.read @u : tensor<8x8xf32>
  %x1 = nn.contract "tbh,gh->tbg" %x, %u : tensor<70x4x8xf32>, tensor<8x8xf32>
  %h0 = arith.constant dense<0.0> : tensor<4x8xf32>
  %h = nn.scan 70 slices(%x1) states(%h0) invariants(%w)
      : (tensor<70x4x8xf32>, tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<71x4x8xf32> {
  ^bb0(%xi: tensor<4x8xf32>, %hi: tensor<4x8xf32>, %wi: tensor<8x8xf32>):
    %0 = nn.contract "bh,gh->bg" %hi, %wi : tensor<4x8xf32>, tensor<8x8xf32>
    %1 = arith.addf %xi, %0 : tensor<4x8xf32>
    %2 = math.tanh %1 : tensor<4x8xf32>
    nn.yield %2 : tensor<4x8xf32>
  }
  %l = nn.slice %h [70, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<71x4x8xf32>
  %r = nn.reshape %l : tensor<1x4x8xf32> to tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
