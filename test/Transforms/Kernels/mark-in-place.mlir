// RUN: gpuopt-opt %s --kernels-mark-in-place | FileCheck %s
// RUN: not gpuopt-opt %s --kernels-mark-in-place --cse --train-plan-memory --convert-to-device -o /dev/null 2>&1 | FileCheck %s --check-prefix=GONE

train.variable @w parameter : tensor<16x16xf32>

// Nothing else reads the scores: each row is reduced before it is written.
// CHECK-LABEL: train.step @softmax
// CHECK: nn.fused "softmax" %{{.*}} {in_place = array<i64: 0>}
train.step @softmax forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %scores = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y = nn.fused "softmax" %scores : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %max = nn.reduce max %a [1] : tensor<8x16xf32>
    %0 = nn.broadcast %max : tensor<8x1xf32> to tensor<8x16xf32>
    %1 = arith.subf %a, %0 : tensor<8x16xf32>
    %2 = math.exp %1 : tensor<8x16xf32>
    %sum = nn.reduce sum %2 [1] : tensor<8x16xf32>
    %3 = nn.broadcast %sum : tensor<8x1xf32> to tensor<8x16xf32>
    %4 = arith.divf %2, %3 : tensor<8x16xf32>
    nn.yield %4 : tensor<8x16xf32>
  }
  train.output "y", %y : tensor<8x16xf32>
}

// Through views of all of it; but not what an input of the step holds.
// CHECK-LABEL: train.step @elementwise
// CHECK: nn.fused "tanh" %{{.*}} {in_place = array<i64: 0>}
// CHECK-NOT: in_place
train.step @elementwise forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %1 = nn.reshape %0 : tensor<8x16xf32> to tensor<128xf32>
  %y = nn.fused "tanh" %1 : tensor<128xf32> -> tensor<128xf32> {
  ^bb0(%a: tensor<128xf32>):
    %2 = math.tanh %a : tensor<128xf32>
    nn.yield %2 : tensor<128xf32>
  }
  %z = nn.fused "abs" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.absf %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %y : tensor<128xf32>
  train.output "z", %z : tensor<8x16xf32>
}

// Another element is read after it would have been overwritten: a transposed
// operand, a row that is reduced in the walk that writes, a column.
// CHECK-LABEL: train.step @out_of_order
// CHECK-NOT: in_place
train.step @out_of_order forward ("x" %x: tensor<16x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<16x16xf32>, tensor<16x16xf32>
  %1 = nn.transpose %0 [1, 0] : tensor<16x16xf32>
  %transposed = nn.fused "tanh" %1 : tensor<16x16xf32> -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %4 = math.tanh %a : tensor<16x16xf32>
    nn.yield %4 : tensor<16x16xf32>
  }
  %2 = nn.contract "ik,kj->ij" %x, %w : tensor<16x16xf32>, tensor<16x16xf32>
  %row:2 = nn.fused "abs_sum" %2, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>, tensor<16x1xf32> {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>):
    %4 = math.absf %b : tensor<16x16xf32>
    %sum = nn.reduce sum %a [1] : tensor<16x16xf32>
    nn.yield %4, %sum : tensor<16x16xf32>, tensor<16x1xf32>
  }
  %3 = nn.contract "ik,kj->ij" %x, %w : tensor<16x16xf32>, tensor<16x16xf32>
  %column = nn.fused "sum" %3 : tensor<16x16xf32> -> tensor<1x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %sum = nn.reduce sum %a [0] : tensor<16x16xf32>
    nn.yield %sum : tensor<1x16xf32>
  }
  train.output "transposed", %transposed : tensor<16x16xf32>
  train.output "row", %row#0 : tensor<16x16xf32>
  train.output "column", %column : tensor<1x16xf32>
  train.output "sum", %row#1 : tensor<16x1xf32>
}

// Once merged with its twin, what has been overwritten is read again. That is
// noticed.
// CHECK-LABEL: train.step @twins
// CHECK: nn.fused "tanh" %{{.*}} {in_place = array<i64: 0>}
// GONE: error: 'nn.fused' op reads '{{.*}}', which has been overwritten
train.step @twins forward ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y = nn.fused "tanh" %0 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %z = nn.fused "abs" %1 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.absf %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %y : tensor<8x16xf32>
  train.output "z", %z : tensor<8x16xf32>
}
