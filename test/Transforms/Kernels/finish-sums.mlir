// RUN: gpuopt-opt %s --kernels-finish-sums=device=h200 --verify-clusters | FileCheck %s
// RUN: gpuopt-opt %s --kernels-finish-sums=device=h200 --train-plan-memory --convert-to-device=device=h200 --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %s --kernels-finish-sums | FileCheck %s --check-prefix=HOST

// A launch costs nothing on a processor.
// HOST-NOT: nn.fused "sum_

// Both sums end in the kernel that reads them. One of them has another reader,
// the other one none.
// CHECK-LABEL: train.step @both
// CHECK-NOT: nn.fused "sum"
// CHECK: %[[M:.*]]:2 = nn.fused "sum_mul" %{{.*}}, %{{.*}}, %{{.*}} {nn.origins = #nn.origins<"scaled", "d bias">}
// CHECK-SAME: : tensor<256x1x64xf32>, tensor<256x1x64xf32>, tensor<64xf32> -> tensor<1x1x64xf32>, tensor<1x1x64xf32> {
// CHECK: %[[A:.*]] = nn.reduce sum %{{.*}} [0]
// CHECK: %[[B:.*]] = nn.reduce sum %{{.*}} [0]
// CHECK: %[[AB:.*]] = arith.mulf %[[A]], %[[B]]
// CHECK: %[[ABC:.*]] = arith.mulf %[[AB]], %
// CHECK: nn.yield %[[ABC]], %[[A]]
// CHECK: train.output "scaled", %[[M]]#0
// CHECK: train.output "d", %[[M]]#1
// Groups of threads add up the parts; the first one computes with the sums.
// CXX: sum_of_groups
// CXX: sum_of_groups
// CXX: if (group<
// CXX: store
train.step @both forward ("a" %a: tensor<256x1x64xf32>, "b" %b: tensor<256x1x64xf32>, "c" %c: tensor<64xf32>) {
  %0 = nn.fused "sum" %a {nn.origins = #nn.origins<"d bias">} : tensor<256x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%e: tensor<256x1x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x1x64xf32>
    nn.yield %4 : tensor<1x1x64xf32>
  }
  %1 = nn.fused "sum" %b {nn.origins = #nn.origins<"other">} : tensor<256x1x64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%e: tensor<256x1x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x1x64xf32>
    nn.yield %4 : tensor<1x1x64xf32>
  }
  %2 = nn.fused "mul" %0, %1, %c {nn.origins = #nn.origins<"scaled">} : tensor<1x1x64xf32>, tensor<1x1x64xf32>, tensor<64xf32> -> tensor<1x1x64xf32> {
  ^bb0(%e: tensor<1x1x64xf32>, %f: tensor<1x1x64xf32>, %g: tensor<64xf32>):
    %4 = arith.mulf %e, %f : tensor<1x1x64xf32>
    %5 = nn.broadcast %g : tensor<64xf32> to tensor<1x1x64xf32>
    %6 = arith.mulf %4, %5 : tensor<1x1x64xf32>
    nn.yield %6 : tensor<1x1x64xf32>
  }
  train.output "scaled", %2 : tensor<1x1x64xf32>
  train.output "d", %0 : tensor<1x1x64xf32>
}
