// Options that no step can mean are refused, and never taken for a default.
// RUN: not gpuopt-opt %s -train-schedule=activation-budget=-5 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: error: expects activation-budget to be at least 0, but got -5
// RUN: not gpuopt-opt %s -train-schedule=memory-budget=-5 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: expects memory-budget to be at least 0, but got -5
// RUN: not gpuopt-opt %s -train-schedule="activation-budget=512 offload-bandwidth=-1" 2>&1 | FileCheck %s --check-prefix=BANDWIDTH
// BANDWIDTH: error: expects offload-bandwidth to be at least 0, but got -1
// RUN: not gpuopt-opt %s -train-schedule="activation-budget=512 effort=0" 2>&1 | FileCheck %s --check-prefix=EFFORT
// EFFORT: error: expects effort to be at least 1, but got 0
// RUN: not gpuopt-opt %s -train-assign-precision="half-type=f16 activation-budget=-1" 2>&1 | FileCheck %s --check-prefix=PRECISION
// PRECISION: error: expects activation-budget to be at least 0, but got -1
// RUN: not gpuopt-opt %s -train-assign-precision="half-type=f16 memory-budget=-1" 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: error: expects memory-budget to be at least 0, but got -1
// RUN: not gpuopt-opt %s -train-assign-precision="half-type=f16 offload-bandwidth=nan" 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: expects offload-bandwidth to be at least 0, but got
// RUN: not gpuopt-opt %s -train-assign-precision="half-type=f16 effort=-1" 2>&1 | FileCheck %s --check-prefix=MOVES
// MOVES: error: expects effort to be at least 1, but got -1
// RUN: not gpuopt-opt %s -train-assign-precision="half-type=f16 accumulation-steps=0" 2>&1 | FileCheck %s --check-prefix=ACCUMULATION
// ACCUMULATION: error: expects accumulation-steps to be at least 1, but got 0
// RUN: not gpuopt-opt %s -train-insert-loss-scaling="enabled accumulation-steps=0" 2>&1 | FileCheck %s --check-prefix=SCALING
// SCALING: error: expects accumulation-steps to be at least 1, but got 0
// RUN: not gpuopt-opt %s -train-reserve-workspace=workspace-bytes=-1 2>&1 | FileCheck %s --check-prefix=WORKSPACE
// WORKSPACE: error: expects workspace-bytes to be at least 0, but got -1

// What does not exist is no device, with a budget and without one.
// RUN: not gpuopt-opt %s -train-schedule=device=foo 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not gpuopt-opt %s -train-assign-precision=device=foo 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not gpuopt-opt %s -nn-split-reductions=device=foo 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: device: expects one of host, {{.*}} or a JSON file, but got 'foo': No such file or directory
// RUN: not gpuopt-opt %s -train-assign-precision=half-type=f8 2>&1 | FileCheck %s --check-prefix=HALF
// HALF: error: expects a half-type of f16 or bf16, but got 'f8'

// What is reserved twice would be allocated twice.
// RUN: not gpuopt-opt %s -train-reserve-workspace -train-reserve-workspace 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'train.variable' op is there already: 'train-reserve-workspace' runs once

train.step @forward forward ("x" %x: tensor<4x8xf32>, "y" %y: tensor<8x4xf32>) {
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<8x4xf32>
  train.output "z", %0 : tensor<4x4xf32>
}
