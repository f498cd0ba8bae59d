// RUN: gpuopt-opt %s -train-build-step="optimizer=sgd param-groups=^w,weight" | FileCheck %s
// RUN: gpuopt-opt %s -train-build-step="eval-metrics=accuracy,top_3_accuracy,perplexity" | FileCheck %s --check-prefix=METRICS
// RUN: gpuopt-opt %s -train-build-step="loss=bce_with_logits eval-metrics=f1" | FileCheck %s --check-prefix=LOGITS

// The first group that matches a parameter has it. Each group has 2048 bytes.
// CHECK: train.variable @param_groups param_groups : tensor<2x256xf64>
// CHECK: train.update "sgd" @w.weight, %{{.*}} decay group 1 :
// CHECK: train.update "sgd" @v.weight, %{{.*}} decay group 2 :
// CHECK: train.update "sgd" @v.bias, %{{.*}} decay :
train.variable @w.weight parameter : tensor<8x8xf32>
train.variable @v.weight parameter : tensor<8x5xf32>
train.variable @v.bias parameter : tensor<5xf32>

// What metrics are computed from is an output of the evaluation alone.
// METRICS-LABEL: train.step @micro_step
// METRICS-NOT: train.output
// METRICS-LABEL: train.step @evaluate
// METRICS: train.output "metrics.predictions", %{{.*}} : tensor<4xi64>
// METRICS: train.output "metrics.ranks", %{{.*}} : tensor<4xi64>
// LOGITS: train.output "metrics.logits", %{{.*}} : tensor<4x5xf32>
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x5xf32> {nn.name = "y"}) {
  %w = train.read @w.weight : tensor<8x8xf32>
  %v = train.read @v.weight : tensor<8x5xf32>
  %b = train.read @v.bias : tensor<5xf32>
  %0 = nn.contract "ik,kj->ij" %x, %w : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = nn.contract "ik,kj->ij" %0, %v : tensor<4x8xf32>, tensor<8x5xf32>
  %2 = nn.broadcast %b : tensor<5xf32> to tensor<4x5xf32>
  %3 = arith.addf %1, %2 : tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}
