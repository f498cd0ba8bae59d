// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-in-place,train-schedule{activation-budget=1024 device=h200})' -o /dev/null 2>&1 | FileCheck %s
// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-in-place,train-schedule{memory-budget=4096 device=h200})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-in-place,train-schedule{memory-budget=267775 device=h200})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-in-place,train-schedule{memory-budget=267776 device=h200})' -o /dev/null

// What is told is what all steps need, not what the first one does that does
// not fit.
// CHECK: error: activation budget 1024 B cannot be met: the smallest budget that can be met is 129.0 KiB, and the proven lower limit is 129.0 KiB; the largest tensors alive at 'large'
// WHOLE: error: memory budget {{4096|267775}} B cannot be met: the smallest budget that can be met is 261.5 KiB, and the proven lower limit is 261.5 KiB; beside activations, the program keeps outputs (129.0 KiB), inputs (1536 B)
train.step @micro_step micro ("x" %x: tensor<16x16xf32>) {
  %0 = nn.contract "ik,kj->ij" %x, %x : tensor<16x16xf32>, tensor<16x16xf32> loc("small")
  %1 = nn.contract "ik,kj->ij" %0, %x : tensor<16x16xf32>, tensor<16x16xf32> loc("small")
  train.output "a", %1 : tensor<16x16xf32>
}
train.step @evaluate evaluate ("y" %y: tensor<16x8xf32>) {
  %0 = nn.contract "ik,jk->ij" %y, %y : tensor<16x8xf32>, tensor<16x8xf32> loc("large")
  %1 = nn.contract "ik,jl->ijkl" %0, %y : tensor<16x16xf32>, tensor<16x8xf32> loc("large")
  train.output "b", %1 : tensor<16x16x16x8xf32>
}
