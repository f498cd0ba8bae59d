// RUN: gpuopt-opt %s --train-plan-memory --remarks-filter-analyse=arena --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s

// Two results of 1152 bytes live at once, and offsets are multiples of 256: no
// arena is lower than 2560 bytes, and that is proven without a search, although
// the last 128 bytes hold nothing and 252 bytes follow on the scalar.

// CHECK: packed | Category:arena | bytes=2560, lowerLimit=2560
train.step @micro_step micro ("x" %x: tensor<288xf32>) {
  %0 = nn.fused "tanh" %x : tensor<288xf32> -> tensor<288xf32> {
  ^bb0(%a: tensor<288xf32>):
    %3 = math.tanh %a : tensor<288xf32>
    nn.yield %3 : tensor<288xf32>
  }
  %1 = nn.fused "exp" %0 : tensor<288xf32> -> tensor<288xf32> {
  ^bb0(%a: tensor<288xf32>):
    %3 = math.exp %a : tensor<288xf32>
    nn.yield %3 : tensor<288xf32>
  }
  %2 = nn.fused "sum" %1 : tensor<288xf32> -> tensor<1xf32> {
  ^bb0(%a: tensor<288xf32>):
    %3 = nn.reduce sum %a [0] : tensor<288xf32>
    nn.yield %3 : tensor<1xf32>
  }
  train.output "y", %2 : tensor<1xf32>
}
