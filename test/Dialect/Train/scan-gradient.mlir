// RUN: gpuopt-opt %s --split-input-file --train-build-step="loss=mse" | FileCheck %s

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

// -----

// Operands that are equal have a gradient each: that of the weight is the sum of both,
// and so are those of the slices and of the initial states.
// CHECK-LABEL: train.step @micro_step
// CHECK: %[[W:.*]] = train.read @w
// CHECK: %[[H:.*]]:2 = nn.scan 70 slices(%[[X:.*]], %[[X]]) states(%[[H0:.*]], %[[H0]]) invariants(%[[W]], %[[W]])
// CHECK: %[[BEFORE1:.*]] = nn.slice %[[H]]#0 [0, 0] [70, 8]
// CHECK: %[[BEFORE2:.*]] = nn.slice %[[H]]#1 [0, 0] [70, 8]
// CHECK: %[[D:.*]]:5 = nn.scan 70 reverse slices(%[[BEFORE1]], %[[BEFORE2]], %{{.*}}, %{{.*}}) states(%{{.*}}, %{{.*}}) invariants(%[[W]], %[[W]])
// CHECK-NEXT: ^bb0(%[[H1:.*]]: tensor<8xf32>, %[[H2:.*]]: tensor<8xf32>, %[[S1:.*]]: tensor<8xf32>, %[[S2:.*]]: tensor<8xf32>, %[[D1:.*]]: tensor<8xf32>, %[[D2:.*]]: tensor<8xf32>, %[[W1:.*]]: tensor<8xf32>, %[[W2:.*]]: tensor<8xf32>):
// CHECK-DAG: %[[DX2:.*]] = arith.negf %[[D2]]
// CHECK-DAG: %[[DH1:.*]] = arith.mulf %[[D1]], %[[W1]]
// CHECK-DAG: %[[DH2:.*]] = arith.mulf %[[D2]], %[[W2]]
// CHECK-DAG: %[[DW1:.*]] = arith.mulf %[[D1]], %[[H1]]
// CHECK-DAG: %[[DW2:.*]] = arith.mulf %[[D2]], %[[H2]]
// CHECK: nn.yield %{{.*}}, %{{.*}}, %[[DX2]], %[[DW1]], %[[DW2]]
// CHECK: %[[OF_X1:.*]] = nn.slice %[[D]]#0 [1, 0] [70, 8]
// CHECK: %[[FINAL1:.*]] = nn.slice %[[D]]#0 [0, 0] [1, 8]
// CHECK: %[[OF_H1:.*]] = nn.reshape %[[FINAL1]]
// CHECK: %[[FINAL2:.*]] = nn.slice %[[D]]#1 [0, 0] [1, 8]
// CHECK: %[[OF_H2:.*]] = nn.reshape %[[FINAL2]]
// CHECK: %[[SUM1:.*]] = nn.reduce sum %[[D]]#3
// CHECK: %[[OF_W1:.*]] = nn.reshape %[[SUM1]]
// CHECK: %[[SUM2:.*]] = nn.reduce sum %[[D]]#4
// CHECK: %[[OF_W2:.*]] = nn.reshape %[[SUM2]]
// CHECK-NEXT: %[[OF_X:.*]] = arith.addf %[[OF_X1]], %[[D]]#2
// CHECK-NEXT: %[[OF_H:.*]] = arith.addf %[[OF_H1]], %[[OF_H2]]
// CHECK-NEXT: %[[OF_W:.*]] = arith.addf %[[OF_W1]], %[[OF_W2]]
// CHECK: train.grad_norm %[[OF_W]], %{{.*}}, %[[OF_H]] of [@w, @u, @h]
train.variable @w parameter : tensor<8xf32>
train.variable @u parameter : tensor<8xf32>
train.variable @h parameter : tensor<8xf32>
func.func @forward(%x: tensor<70x8xf32> {nn.name = "x"}) -> (tensor<8xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8xf32>
  %u = train.read @u : tensor<8xf32>
  %h = train.read @h : tensor<8xf32>
  %u1 = nn.broadcast %u : tensor<8xf32> to tensor<70x8xf32>
  %x1 = arith.mulf %x, %u1 : tensor<70x8xf32>
  %h1, %h2 = nn.scan 70 slices(%x1, %x1) states(%h, %h) invariants(%w, %w)
      : (tensor<70x8xf32>, tensor<70x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>)
      -> (tensor<71x8xf32>, tensor<71x8xf32>) {
  ^bb0(%xi: tensor<8xf32>, %xj: tensor<8xf32>, %hi: tensor<8xf32>, %hj: tensor<8xf32>, %wi: tensor<8xf32>, %wj: tensor<8xf32>):
    %0 = arith.mulf %hi, %wi : tensor<8xf32>
    %1 = arith.addf %xi, %0 : tensor<8xf32>
    %2 = arith.mulf %hj, %wj : tensor<8xf32>
    %3 = arith.subf %2, %xj : tensor<8xf32>
    nn.yield %1, %3 : tensor<8xf32>, tensor<8xf32>
  }
  %l1 = nn.slice %h1 [70, 0] [1, 8] [1, 1] : tensor<71x8xf32>
  %l2 = nn.slice %h2 [70, 0] [1, 8] [1, 1] : tensor<71x8xf32>
  %l = arith.mulf %l1, %l2 : tensor<1x8xf32>
  %r = nn.reshape %l : tensor<1x8xf32> to tensor<8xf32>
  return %r : tensor<8xf32>
}
