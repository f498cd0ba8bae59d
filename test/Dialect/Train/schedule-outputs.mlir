// RUN: not gpuopt-opt %s -kernels-materialize-views -train-schedule=activation-budget=1 2>&1 | FileCheck %s

// RUN: sed s/1024/10240/g %s | not gpuopt-opt - -kernels-materialize-views -train-schedule=activation-budget=40959 2>&1 | FileCheck %s --check-prefix=CLOSE
// RUN: sed s/1024/10240/g %s | not gpuopt-opt - -kernels-materialize-views -train-schedule=activation-budget=20480 2>&1 | FileCheck %s --check-prefix=FAR
// A budget that would read as the smallest one that can be met is told in bytes.
// CLOSE: activation budget 40959 B cannot be met: the smallest budget that can be met is 40.0 KiB
// FAR: activation budget 20.0 KiB cannot be met: the smallest budget that can be met is 40.0 KiB

// What is written to an output's memory takes nothing of the budget: only %0 does.
// CHECK: activation budget 1 B cannot be met: the smallest budget that can be met is 4096 B, and the proven lower limit is 4096 B
train.step @outputs forward ("x" %x: tensor<1024xf32>) {
  %0 = nn.fused "exp" %x : tensor<1024xf32> -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %e = math.exp %a : tensor<1024xf32>
    nn.yield %e : tensor<1024xf32>
  }
  %1 = nn.fused "scale" %0 : tensor<1024xf32> -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %e = arith.mulf %a, %a : tensor<1024xf32>
    nn.yield %e : tensor<1024xf32>
  }
  train.output "y", %1 : tensor<1024xf32>
}
