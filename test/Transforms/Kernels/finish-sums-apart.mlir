// RUN: gpuopt-opt %s --kernels-finish-sums=device=h200 --verify-clusters | FileCheck %s

// A sum of other rows has another loop, one that a kernel of other shape reads
// has no columns there, scalars have neither, and what reads a sum before cannot
// wait for it.
// CHECK-LABEL: train.step @apart
// CHECK: %[[A:.*]] = nn.fused "sum_first"
// CHECK: %[[B:.*]] = nn.fused "sum" %
// CHECK: nn.fused "sum_mul" %{{.*}}, %[[B]]
// CHECK: %[[C:.*]] = nn.fused "sum" %
// CHECK: nn.fused "wide" %[[C]]
// CHECK: %[[D:.*]] = nn.fused "sum" %
// CHECK: nn.fused "scalar" %[[D]]
// CHECK: %[[E:.*]] = nn.fused "sum" %
// CHECK: nn.fused "rows" %[[E]]
// CHECK: nn.fused "late" %[[E]]
train.step @apart forward ("a" %a: tensor<256x64xf32>, "b" %b: tensor<16x64xf32>, "c" %c: tensor<256x64xf32>) {
  %0 = nn.fused "sum" %a : tensor<256x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<256x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %first = nn.fused "first" %0 : tensor<1x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<1x64xf32>):
    %4 = arith.mulf %e, %e : tensor<1x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %1 = nn.fused "sum" %b : tensor<16x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<16x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<16x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %2 = nn.fused "sum" %c : tensor<256x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<256x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %3 = nn.fused "mul" %2, %1 : tensor<1x64xf32>, tensor<1x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<1x64xf32>, %f: tensor<1x64xf32>):
    %4 = arith.mulf %e, %f : tensor<1x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %5 = nn.fused "sum" %c : tensor<256x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<256x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %6 = nn.fused "wide" %5 : tensor<1x64xf32> -> tensor<256x64xf32> {
  ^bb0(%e: tensor<1x64xf32>):
    %4 = nn.broadcast %e : tensor<1x64xf32> to tensor<256x64xf32>
    nn.yield %4 : tensor<256x64xf32>
  }
  %7 = nn.fused "sum" %c : tensor<256x64xf32> -> tensor<1x1xf32> {
  ^bb0(%e: tensor<256x64xf32>):
    %4 = nn.reduce sum %e [0, 1] : tensor<256x64xf32>
    nn.yield %4 : tensor<1x1xf32>
  }
  %8 = nn.fused "scalar" %7 : tensor<1x1xf32> -> tensor<1x1xf32> {
  ^bb0(%e: tensor<1x1xf32>):
    %4 = arith.mulf %e, %e : tensor<1x1xf32>
    nn.yield %4 : tensor<1x1xf32>
  }
  %9 = nn.fused "sum" %a : tensor<256x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<256x64xf32>):
    %4 = nn.reduce sum %e [0] : tensor<256x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  %10 = nn.fused "rows" %9 : tensor<1x64xf32> -> tensor<256x64xf32> {
  ^bb0(%e: tensor<1x64xf32>):
    %4 = nn.broadcast %e : tensor<1x64xf32> to tensor<256x64xf32>
    nn.yield %4 : tensor<256x64xf32>
  }
  %11 = nn.fused "late" %9 : tensor<1x64xf32> -> tensor<1x64xf32> {
  ^bb0(%e: tensor<1x64xf32>):
    %4 = arith.mulf %e, %e : tensor<1x64xf32>
    nn.yield %4 : tensor<1x64xf32>
  }
  train.output "0", %first : tensor<1x64xf32>
  train.output "3", %3 : tensor<1x64xf32>
  train.output "6", %6 : tensor<256x64xf32>
  train.output "8", %8 : tensor<1x1xf32>
  train.output "10", %10 : tensor<256x64xf32>
  train.output "11", %11 : tensor<1x64xf32>
}
