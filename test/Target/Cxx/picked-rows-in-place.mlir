// RUN: gpuopt-opt %s -kernels-mark-in-place -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// A long row that is written in place is written behind a reduction: the
// element that the label picks is loaded by all threads before.
// CHECK: KERNEL LAUNCH_BOUNDS(512, 2) void fused_margin(const float *contract,
// CHECK: const float selected = select(mask0, contract[
// CHECK: const float sum = block_sum(sums);
// CHECK: store(contract_2 + b * 9001 + i,
// CHECK-NOT: block_sum
train.step @forward forward ("a" %a: tensor<64x32xf32>, "w" %w: tensor<9001x32xf32>, "label" %label: tensor<64x1xi64>) {
  %x = nn.contract "tk,vk->tv" %a, %w : tensor<64x32xf32>, tensor<9001x32xf32>
  %r:2 = nn.fused "margin" %x, %label : tensor<64x9001xf32>, tensor<64x1xi64> -> tensor<64x9001xf32>, tensor<64x1xf32> {
  ^bb0(%v: tensor<64x9001xf32>, %l: tensor<64x1xi64>):
    %zero = arith.constant dense<0.0> : tensor<64x9001xf32>
    %lb = nn.broadcast %l : tensor<64x1xi64> to tensor<64x9001xi64>
    %i = nn.iota dim 1 : tensor<64x9001xi64>
    %is = arith.cmpi eq, %i, %lb : tensor<64x9001xi64>
    %sel = arith.select %is, %v, %zero : tensor<64x9001xi1>, tensor<64x9001xf32>
    %pick = nn.reduce sum %sel [1] : tensor<64x9001xf32>
    %total = nn.reduce sum %v [1] : tensor<64x9001xf32>
    %pb = nn.broadcast %pick : tensor<64x1xf32> to tensor<64x9001xf32>
    %y = arith.subf %v, %pb : tensor<64x9001xf32>
    nn.yield %y, %total : tensor<64x9001xf32>, tensor<64x1xf32>
  }
  %z = nn.contract "tv,vk->tk" %r#0, %w : tensor<64x9001xf32>, tensor<9001x32xf32>
  train.output "z", %z : tensor<64x32xf32>
  train.output "total", %r#1 : tensor<64x1xf32>
}
