// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-in-place,train-schedule{activation-budget=1536 device=h200})' -o /dev/null 2>&1 | FileCheck %s

// To run again between the two updates, %u would have to read what the first
// has written: that is no schedule.
// CHECK: error: activation budget 1536 B cannot be met: the smallest budget that can be met is 2048 B
train.variable @w parameter : tensor<16x16xf32>
train.variable @v parameter : tensor<16x16xf32>
train.step @micro_step micro ("x" %x: tensor<16x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %u = nn.contract "ik,kj->ij" %x, %w : tensor<16x16xf32>, tensor<16x16xf32>
  %g2 = nn.fused "tanh" %u : tensor<16x16xf32> -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %0 = math.tanh %a : tensor<16x16xf32>
    nn.yield %0 : tensor<16x16xf32>
  }
  %g1 = nn.contract "ik,jk->ij" %x, %w : tensor<16x16xf32>, tensor<16x16xf32>
  train.update "sgd" @w, %g1 : tensor<16x16xf32>
  train.update "sgd" @v, %g2 : tensor<16x16xf32>
}
