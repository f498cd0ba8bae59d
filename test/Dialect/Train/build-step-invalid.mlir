// RUN: not gpuopt-opt %s -train-build-step="optimizer=lamb" 2>&1 | FileCheck %s --check-prefix=OPTIMIZER
// OPTIMIZER: error: expects an optimizer of {{.*}}adamw{{.*}}, but got 'lamb'
// RUN: not gpuopt-opt %s -train-build-step="optimizer=adamw optimizer-states=exp_avg" 2>&1 | FileCheck %s --check-prefix=STATES
// STATES: error: expects optimizer-states that 'adamw' may keep or not, but got 'exp_avg'
// RUN: not gpuopt-opt %s -train-build-step="no-decay=(" 2>&1 | FileCheck %s --check-prefix=REGEX
// REGEX: error: expects a regular expression for --no-decay, but got '(': {{.}}
// RUN: not gpuopt-opt %s -train-build-step="param-groups=w,(" 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: error: expects a regular expression for --param-group, but got '(': {{.}}
// RUN: not gpuopt-opt %s -train-build-step="param-groups=bias" 2>&1 | FileCheck %s --check-prefix=NOGROUP
// NOGROUP: error: expects --param-group to match the name of a parameter, but 'bias' matches none
// RUN: not gpuopt-opt %s -train-build-step="eval-metrics=accuracy,auc" 2>&1 | FileCheck %s --check-prefix=METRIC
// METRIC: error: eval-metrics: 'auc' is no metric; there are accuracy, top_K_accuracy for a number K, f1 and perplexity
// RUN: not gpuopt-opt %s -train-build-step="loss=mse eval-metrics=accuracy" 2>&1 | FileCheck %s --check-prefix=METRICLOSS
// METRICLOSS: error: eval-metrics: 'accuracy' applies only to --loss=cross_entropy or nll or soft_cross_entropy or bce_with_logits or focal, but the loss is mse
// RUN: not gpuopt-opt %s -train-build-step="label-smoothing=1" 2>&1 | FileCheck %s --check-prefix=SMOOTHING
// SMOOTHING: error: expects label-smoothing in [0, 1), but got 1
// RUN: not gpuopt-opt %s -train-build-step="huber-delta=0" 2>&1 | FileCheck %s --check-prefix=DELTA
// DELTA: error: expects huber-delta above 0, but got 0
// RUN: not gpuopt-opt %s -train-build-step="smooth-l1-beta=-1" 2>&1 | FileCheck %s --check-prefix=BETA
// BETA: error: expects smooth-l1-beta of at least 0, but got -1
// RUN: not gpuopt-opt %s -train-build-step="focal-alpha=2" 2>&1 | FileCheck %s --check-prefix=ALPHA
// ALPHA: error: expects focal-alpha of at most 1, but got 2
// RUN: not gpuopt-opt %s -train-build-step="focal-gamma=-1" 2>&1 | FileCheck %s --check-prefix=GAMMA
// GAMMA: error: expects focal-gamma of at least 0, but got -1
// RUN: not gpuopt-opt %s -train-build-step="dice-smooth=-1" 2>&1 | FileCheck %s --check-prefix=DICE
// DICE: error: expects dice-smooth of at least 0, but got -1
// RUN: not gpuopt-opt %s -train-build-step="class-weights=1,2" 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: error: expects class-weights for each of the 3 classes of 'y', but got 2
// RUN: not gpuopt-opt %s -train-build-step="class-weights=1,2,-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: expects class-weights of at least 0 that 'f32' can hold, but got -1
// RUN: not gpuopt-opt %s -train-build-step="class-weights=1,2,1e39" 2>&1 | FileCheck %s --check-prefix=INFINITE
// INFINITE: error: expects class-weights of at least 0 that 'f32' can hold, but got 1{{.*}}e+39
// RUN: not gpuopt-opt %s -train-build-step="class-weights=1e-50,0,0" 2>&1 | FileCheck %s --check-prefix=ZEROS
// RUN: not gpuopt-opt %s -train-build-step="class-weights=0,0,0" 2>&1 | FileCheck %s --check-prefix=ZEROS
// ZEROS: error: expects a class weight above 0, but all are 0
// RUN: not gpuopt-opt %s -train-build-step="accumulation-steps=0" 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: expects accumulation-steps to be at least 1, but got 0
// RUN: not gpuopt-opt %s -train-build-step="loss-chunks=-1" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// CHUNKS: error: expects loss-chunks to be at least 0, but got -1
// RUN: gpuopt-opt %s -train-build-step="ignore-index=0 label-smoothing=0.1" | FileCheck %s
// CHECK: nn.cross_entropy %{{.*}}, %{{.*}} ignore_index 0 label_smoothing 1.000000e-01
// RUN: gpuopt-opt %S/Inputs/no-steps.mlir -split-input-file -verify-diagnostics -train-build-step

train.variable @w parameter : tensor<8x3xf32>
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<8x3xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x3xf32>
  return %0 : tensor<4x3xf32>
}
