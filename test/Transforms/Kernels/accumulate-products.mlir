// RUN: gpuopt-opt %s --kernels-accumulate-products | FileCheck %s

// The gradients of a weight that two products read, and of its use as a table.
// The backward makes them last to first; the chain begins with the one whose
// operands are there first, and what is no product comes at the end.

// CHECK-LABEL: train.step @micro_step
train.step @micro_step micro ("a" %a: tensor<8x4xf32>, "b" %b: tensor<8x4xf32>, "t" %t: tensor<4x4xf32>) {
  // CHECK: %[[FIRST:.*]] = nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} :
  // CHECK: %[[LATER:.*]] = nn.contract "ik,kj->ij" %[[FIRST]]
  %first = nn.contract "ik,kj->ij" %a, %t : tensor<8x4xf32>, tensor<4x4xf32>
  %later = nn.contract "ik,kj->ij" %first, %t : tensor<8x4xf32>, tensor<4x4xf32>
  %one = nn.contract "ij,ij->" %later, %b : tensor<8x4xf32>, tensor<8x4xf32>
  %loss = nn.reshape %one : tensor<f32> to tensor<1xf32>
  train.report_loss %loss, %loss : tensor<1xf32>, tensor<1xf32>
  %u = math.tanh %later : tensor<8x4xf32>
  %v = math.tanh %first : tensor<8x4xf32>
  // CHECK: %[[G1:.*]] = nn.contract "ki,kj->ij" %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
  // CHECK-NEXT: %[[G2:.*]] = nn.contract "ki,kj->ij" %[[FIRST]], %{{.*}} plus %[[G1]] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
  %g2 = nn.contract "ki,kj->ij" %first, %u : tensor<8x4xf32>, tensor<8x4xf32>
  %g1 = nn.contract "ki,kj->ij" %a, %v : tensor<8x4xf32>, tensor<8x4xf32>
  // CHECK: %[[OTHER:.*]] = math.exp
  %other = math.exp %t : tensor<4x4xf32>
  // CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[G2]], %[[OTHER]]
  // CHECK-NEXT: train.output "g", %[[SUM]]
  %0 = arith.addf %g2, %other : tensor<4x4xf32>
  %1 = arith.addf %0, %g1 : tensor<4x4xf32>
  train.output "g", %1 : tensor<4x4xf32>
}

// A sum of the forward stays: nothing in the chain could be computed again.

// CHECK-LABEL: train.step @evaluate
// CHECK-NOT: plus
// CHECK: arith.addf
train.step @evaluate evaluate ("a" %a: tensor<8x4xf32>, "t" %t: tensor<4x4xf32>) {
  %0 = nn.contract "ik,kj->ij" %a, %t : tensor<8x4xf32>, tensor<4x4xf32>
  %1 = nn.contract "ik,jk->ij" %a, %t : tensor<8x4xf32>, tensor<4x4xf32>
  %2 = arith.addf %0, %1 : tensor<8x4xf32>
  train.output "y", %2 : tensor<8x4xf32>
}

// The table of an embedding that is the weight of two chunks of a head: what is
// scattered comes after the products, though the first of them is there earlier.
// Each one adds to what is there.

// CHECK-LABEL: train.step @tied_step
// CHECK: train.report_loss
// CHECK: %[[G1:.*]] = nn.contract "ik,ij->kj" %{{.*}}, %{{.*}} : tensor<8x4xf32>, tensor<8x4xf32>
// CHECK-NEXT: %[[G2:.*]] = nn.contract "ik,ij->kj" %{{.*}}, %{{.*}} plus %[[G1]] : tensor<8x4xf32>, tensor<8x4xf32>, tensor<4x4xf32>
// CHECK-NEXT: %[[S1:.*]] = nn.scatter_add %{{.*}}, %{{.*}} rows 4 plus %[[G2]] : tensor<8x4xf32>, tensor<8xi64>, tensor<4x4xf32>
// CHECK-NEXT: %[[S2:.*]] = nn.scatter_add %{{.*}}, %{{.*}} rows 4 plus %[[S1]] : tensor<8x4xf32>, tensor<8xi64>, tensor<4x4xf32>
// CHECK-NOT: arith.addf
// CHECK: train.output "g", %[[S2]]
train.step @tied_step micro ("a" %a: tensor<8x4xf32>, "b" %b: tensor<8x4xf32>, "i" %i: tensor<8xi64>, "l" %l: tensor<1xf32>) {
  train.report_loss %l, %l : tensor<1xf32>, tensor<1xf32>
  %s1 = nn.scatter_add %a, %i rows 4 : tensor<8x4xf32>, tensor<8xi64>
  %u = math.tanh %b : tensor<8x4xf32>
  %s2 = nn.scatter_add %u, %i rows 4 : tensor<8x4xf32>, tensor<8xi64>
  %g1 = nn.contract "ik,ij->kj" %a, %b : tensor<8x4xf32>, tensor<8x4xf32>
  %g2 = nn.contract "ik,ij->kj" %b, %b : tensor<8x4xf32>, tensor<8x4xf32>
  %0 = arith.addf %s1, %g1 : tensor<4x4xf32>
  %1 = arith.addf %s2, %g2 : tensor<4x4xf32>
  %2 = arith.addf %0, %1 : tensor<4x4xf32>
  train.output "g", %2 : tensor<4x4xf32>
}

// One call alone is added to nothing.

// CHECK-LABEL: train.step @one_call
// CHECK: nn.scatter_add %{{.*}}, %{{.*}} rows 4 : tensor<8x4xf32>, tensor<8xi64>
// CHECK: arith.addf
train.step @one_call micro ("a" %a: tensor<8x4xf32>, "t" %t: tensor<4x4xf32>, "i" %i: tensor<8xi64>, "l" %l: tensor<1xf32>) {
  train.report_loss %l, %l : tensor<1xf32>, tensor<1xf32>
  %s = nn.scatter_add %a, %i rows 4 : tensor<8x4xf32>, tensor<8xi64>
  %0 = arith.addf %s, %t : tensor<4x4xf32>
  train.output "g", %0 : tensor<4x4xf32>
}
