// RUN: gpuopt-opt %s --kernels-hoist-readers | FileCheck %s

// Both readers of %g (256 bytes) are ready as soon as it is made; their results
// have 64 bytes each. Moved up, %g ends 3 ops earlier and the results live
// about 3 ops longer: 256 * 3 > 2 * 64 * 3. The view comes along.

// CHECK-LABEL: train.step @gains
train.step @gains forward ("x" %x: tensor<8x8xf32>, "w" %w: tensor<8x2xf32>) {
  // CHECK: %[[G:.*]] = nn.contract "ik,kj->ij"
  // CHECK-DAG: %[[VIEW:.*]] = nn.transpose %[[G]]
  // CHECK-DAG: nn.contract "ik,kj->ij" %[[VIEW]]
  // CHECK-DAG: nn.contract "ik,kj->ij" %[[G]]
  // CHECK: nn.contract "ik,jk->ij"
  // CHECK: nn.contract "ki,kj->ij"
  // CHECK: nn.contract "ki,jk->ij"
  %g = nn.contract "ik,kj->ij" %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %0 = nn.contract "ik,jk->ij" %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = nn.contract "ki,kj->ij" %x, %0 : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = nn.contract "ki,jk->ij" %x, %1 : tensor<8x8xf32>, tensor<8x8xf32>
  %view = nn.transpose %g [1, 0] : tensor<8x8xf32>
  %a = nn.contract "ik,kj->ij" %view, %w : tensor<8x8xf32>, tensor<8x2xf32>
  %b = nn.contract "ik,kj->ij" %g, %w : tensor<8x8xf32>, tensor<8x2xf32>
  train.output "2", %2 : tensor<8x8xf32>
  train.output "a", %a : tensor<8x2xf32>
  train.output "b", %b : tensor<8x2xf32>
}

// The reader's result is as large as what it reads: nothing is gained.

// CHECK-LABEL: train.step @gains_nothing
train.step @gains_nothing forward ("x" %x: tensor<8x8xf32>) {
  // CHECK: nn.contract "ik,kj->ij"
  // CHECK-NEXT: nn.contract "ik,jk->ij"
  // CHECK-NEXT: nn.contract "ki,kj->ij"
  %g = nn.contract "ik,kj->ij" %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %0 = nn.contract "ik,jk->ij" %x, %x : tensor<8x8xf32>, tensor<8x8xf32>
  %a = nn.contract "ki,kj->ij" %g, %x : tensor<8x8xf32>, tensor<8x8xf32>
  train.output "0", %0 : tensor<8x8xf32>
  train.output "a", %a : tensor<8x8xf32>
}
