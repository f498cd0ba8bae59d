// RUN: gpuopt-opt %s -kernels-mark-in-place -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// Two softmaxes take two walks, but what else reads the row, three walks in a
// chain, comes before they overwrite it.
// CHECK: KERNEL LAUNCH_BOUNDS(512, 2) void fused_twice(const float *contract,
// CHECK-NOT: store(
// CHECK: const float sum_5 = block_sum(sums_3);
// CHECK-NOT: block_sum
// CHECK: store(contract_2 + b * 9001 + i,
train.step @twice forward ("a" %a: tensor<64x32xf32>, "w" %w: tensor<9001x32xf32>) {
  %x = nn.contract "tk,vk->tv" %a, %w : tensor<64x32xf32>, tensor<9001x32xf32>
  %r:2 = nn.fused "twice" %x : tensor<64x9001xf32> -> tensor<64x9001xf32>, tensor<64x1xf32> {
  ^bb0(%v: tensor<64x9001xf32>):
    %m = nn.reduce max %v [1] : tensor<64x9001xf32>
    %mb = nn.broadcast %m : tensor<64x1xf32> to tensor<64x9001xf32>
    %d = arith.subf %v, %mb : tensor<64x9001xf32>
    %e = math.exp %d : tensor<64x9001xf32>
    %s = nn.reduce sum %e [1] : tensor<64x9001xf32>
    %sb = nn.broadcast %s : tensor<64x1xf32> to tensor<64x9001xf32>
    %p = arith.divf %e, %sb : tensor<64x9001xf32>
    %m2 = nn.reduce max %p [1] : tensor<64x9001xf32>
    %mb2 = nn.broadcast %m2 : tensor<64x1xf32> to tensor<64x9001xf32>
    %d2 = arith.subf %p, %mb2 : tensor<64x9001xf32>
    %e2 = math.exp %d2 : tensor<64x9001xf32>
    %s2 = nn.reduce sum %e2 [1] : tensor<64x9001xf32>
    %sb2 = nn.broadcast %s2 : tensor<64x1xf32> to tensor<64x9001xf32>
    %y = arith.divf %e2, %sb2 : tensor<64x9001xf32>
    %c1 = arith.mulf %v, %mb : tensor<64x9001xf32>
    %r2 = nn.reduce sum %c1 [1] : tensor<64x9001xf32>
    %rb2 = nn.broadcast %r2 : tensor<64x1xf32> to tensor<64x9001xf32>
    %c2 = arith.mulf %v, %rb2 : tensor<64x9001xf32>
    %r3 = nn.reduce sum %c2 [1] : tensor<64x9001xf32>
    %rb3 = nn.broadcast %r3 : tensor<64x1xf32> to tensor<64x9001xf32>
    %c3 = arith.mulf %v, %rb3 : tensor<64x9001xf32>
    %r4 = nn.reduce sum %c3 [1] : tensor<64x9001xf32>
    nn.yield %y, %r4 : tensor<64x9001xf32>, tensor<64x1xf32>
  }
  %z = nn.contract "tv,vk->tk" %r#0, %w : tensor<64x9001xf32>, tensor<9001x32xf32>
  train.output "z", %z : tensor<64x32xf32>
  train.output "total", %r#1 : tensor<64x1xf32>
}
