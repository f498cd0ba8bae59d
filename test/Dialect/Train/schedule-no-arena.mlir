// RUN: not gpuopt-opt %s -train-schedule=memory-budget=10239 -o /dev/null 2>&1 | FileCheck %s
// RUN: gpuopt-opt %s -train-schedule=memory-budget=10240 -o /dev/null

// The kernel writes into the output's memory: the step needs no arena, but what
// the program keeps beside it does not fit into the budget.
// CHECK: error: memory budget 10239 B cannot be met: the smallest budget that can be met is 10.0 KiB, and the proven lower limit is 10.0 KiB; beside activations, the program keeps inputs (4096 B), outputs (4096 B)
train.step @outputs forward ("x" %x: tensor<1024xf32>) {
  %0 = nn.fused "exp" %x : tensor<1024xf32> -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %e = math.exp %a : tensor<1024xf32>
    nn.yield %e : tensor<1024xf32>
  }
  train.output "y", %0 : tensor<1024xf32>
}
