// RUN: gpuopt-opt %s -train-build-step="optimizer=muon no-decay=tall" | FileCheck %s

// A matrix has a momentum; an embedding and a vector have the state of AdamW.
// CHECK: train.variable @table parameter : tensor<16x8xf32> {isTable}
// CHECK-NEXT: train.variable @table.exp_avg optimizer_state
// CHECK-NEXT: train.variable @table.exp_avg_sq optimizer_state
// CHECK-NEXT: train.variable @wide parameter : tensor<8x16xf32>
// CHECK-NEXT: train.variable @wide.momentum_buffer optimizer_state : tensor<8x16xf32> {of = @wide}
// CHECK-NEXT: train.variable @tall parameter : tensor<16x3xf32>
// CHECK-NEXT: train.variable @tall.momentum_buffer optimizer_state : tensor<16x3xf32> {of = @tall}
// CHECK-NEXT: train.variable @bias parameter : tensor<3xf32>
// CHECK-NEXT: train.variable @bias.exp_avg optimizer_state
train.variable @table parameter : tensor<16x8xf32>
train.variable @wide parameter : tensor<8x16xf32>
train.variable @tall parameter : tensor<16x3xf32>
train.variable @bias parameter : tensor<3xf32>

// CHECK-LABEL: train.step @micro_step
// Updates without products come first.
// CHECK: train.grad_norm %[[DTABLE:.*]], %[[DWIDE:.*]], %[[DTALL:.*]], %{{.*}} of [@table, @wide, @tall, @bias]
// CHECK: train.update "adamw" @table, %[[DTABLE]] state {exp_avg = @table.exp_avg, exp_avg_sq = @table.exp_avg_sq} decay

// CHECK-NEXT: train.update "adamw" @bias

// The direction is divided by its length. Each of five steps has the smaller
// one of its two products with itself, here 8 times 8.
// CHECK: %[[D:.*]] = train.direction "muon" of @wide, %[[DWIDE]] state {momentum_buffer = @wide.momentum_buffer} : tensor<8x16xf32> -> tensor<8x16xf32>
// CHECK-NEXT: %[[SQUARES:.*]] = arith.mulf %[[D]], %[[D]]
// CHECK-NEXT: %[[SUM:.*]] = nn.reduce sum %[[SQUARES]] [0, 1]
// CHECK-NEXT: %[[NORM:.*]] = math.sqrt %[[SUM]]
// CHECK: %[[LEAST:.*]] = arith.constant dense<1.000000e-07>
// CHECK: %[[LENGTH:.*]] = arith.maximumf %[[NORM]], %[[LEAST]]
// CHECK: %[[X:.*]] = arith.divf %[[D]],
// CHECK-NEXT: %[[S:.*]] = nn.contract "ik,jk->ij" %[[X]], %[[X]] : tensor<8x16xf32>, tensor<8x16xf32>
// CHECK: arith.constant dense<-4.775000e+00> : tensor<8x8xf32>
// CHECK: %[[SS:.*]] = nn.contract "ik,kj->ij" %[[S]], %[[S]]
// CHECK: arith.constant dense<2.031500e+00> : tensor<8x8xf32>
// CHECK: %[[P:.*]] = arith.addf
// CHECK-NEXT: %[[PX:.*]] = nn.contract "ik,kj->ij" %[[P]], %[[X]] : tensor<8x8xf32>, tensor<8x16xf32>
// CHECK: arith.constant dense<3.444500e+00> : tensor<8x16xf32>
// CHECK: %[[NEXT:.*]] = arith.addf %{{.*}}, %[[PX]]
// CHECK-NEXT: nn.contract "ik,jk->ij" %[[NEXT]], %[[NEXT]]
// CHECK-COUNT-11: nn.contract
// CHECK-NOT: nn.contract
// CHECK: train.update "muon" @wide, %{{.*}} decay

// A tall matrix has its columns multiplied: 3 times 3. The spec says where.
// CHECK: train.direction "muon" of @tall
// CHECK: nn.contract "ki,kj->ij" %[[Y:.*]], %[[Y]] : tensor<16x3xf32>, tensor<16x3xf32>
// CHECK: nn.contract "ik,kj->ij" %[[Y]], %{{.*}} : tensor<16x3xf32>, tensor<3x3xf32>
// CHECK: train.update "muon" @tall, %{{[^ ]*}} : tensor<16x3xf32>

func.func @forward(%ids: tensor<4xi64> {nn.name = "ids"}) -> (tensor<4x3xf32> {nn.name = "logits"}) {
  %t = train.read @table : tensor<16x8xf32>
  %w = train.read @wide : tensor<8x16xf32>
  %u = train.read @tall : tensor<16x3xf32>
  %b = train.read @bias : tensor<3xf32>
  %h = nn.take %t, %ids : tensor<16x8xf32>, tensor<4xi64>
  %0 = nn.contract "ik,kj->ij" %h, %w : tensor<4x8xf32>, tensor<8x16xf32>
  %1 = nn.contract "ik,kj->ij" %0, %u : tensor<4x16xf32>, tensor<16x3xf32>
  %2 = nn.broadcast %b : tensor<3xf32> to tensor<4x3xf32>
  %3 = arith.addf %1, %2 : tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}
