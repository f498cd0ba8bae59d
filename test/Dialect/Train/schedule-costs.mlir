// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=2048 device=h200 profile-costs=%S/Inputs/kernel-costs.json})' | FileCheck %s --check-prefix=KERNEL
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=2048 device=h200 profile-costs=%S/Inputs/slice-costs.json})' | FileCheck %s --check-prefix=SLICE
// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(train-schedule{activation-budget=2048 device=h200 profile-costs=%t.json})' 2>&1 | FileCheck %s --check-prefix=NONE

// Times that were measured go before those of the rates. To have y2 again, the
// tanh alone runs. Where the whole kernel was measured, at 1000 ns, that is the
// share of it that the rates give: nearly all, since both are little more than
// a launch.
// KERNEL: addedNanoseconds = 999.87
// KERNEL: train.recompute "frees 512 B for 1.00 us"

// Where the tanh was measured, too, it has its own 600 ns.
// SLICE: addedNanoseconds = 6.000000e+02 : f64
// SLICE: train.recompute "frees 512 B for 0.60 us"

// NONE: error: cannot read '{{.*}}.json': No such file or directory

train.variable @w parameter : tensor<16x16xf32>

train.step @micro_step micro ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %y1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y2, %sums = nn.fused "tanh_sum" %y1 : tensor<8x16xf32> -> tensor<8x16xf32>, tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = math.tanh %a : tensor<8x16xf32>
    %1 = nn.reduce sum %0 [1] : tensor<8x16xf32>
    nn.yield %0, %1 : tensor<8x16xf32>, tensor<8x1xf32>
  }
  %y3 = nn.contract "ik,kj->ij" %y2, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y4 = nn.fused "tanh" %y3 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = math.tanh %a : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  train.output "sums", %sums : tensor<8x1xf32>
  train.output "y4", %y4 : tensor<8x16xf32>
  %y5 = nn.contract "ik,kj->ij" %y4, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y6 = nn.fused "add" %y5, %y4 : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  %y7 = nn.contract "ik,kj->ij" %y6, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y8 = nn.fused "add" %y7, %y2, %y1 : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    %1 = arith.addf %0, %c : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y8", %y8 : tensor<8x16xf32>
}
