// RUN: gpuopt-opt %s -train-build-step | FileCheck %s
// RUN: gpuopt-opt %s -train-build-step="optimizer=sgd optimizer-states=momentum_buffer no-decay=bias" | FileCheck %s --check-prefix=SGD
// RUN: gpuopt-opt %s -train-build-step="optimizer=sgd optimizer-states=momentum_buffer no-decay=b\w+s" | FileCheck %s --check-prefix=SGD
// RUN: gpuopt-opt %s -train-build-step="accumulation-steps=4" | FileCheck %s --check-prefix=ACCUMULATE
// RUN: gpuopt-opt %s -train-build-step="inference=true" | FileCheck %s --check-prefix=INFERENCE
// RUN: not gpuopt-opt %s -train-build-step="loss=hinge" 2>&1 | FileCheck %s --check-prefix=LOSS
// RUN: not gpuopt-opt %s -train-build-step="no-decay=norm" 2>&1 | FileCheck %s --check-prefix=NODECAY
// RUN: not gpuopt-opt %s -train-build-step="param-groups=frozen" 2>&1 | FileCheck %s --check-prefix=FROZEN-GROUP
// RUN: gpuopt-opt %s -train-build-step="no-decay=frozen" | FileCheck %s
// RUN: not gpuopt-opt %s -train-build-step="logits=other" 2>&1 | FileCheck %s --check-prefix=LOGITS

// CHECK: train.variable @weight.exp_avg_sq optimizer_state : tensor<8x3xf32> {of = @weight}
// CHECK: train.variable @frozen frozen
// CHECK-NOT: @frozen.exp_avg
train.variable @weight parameter : tensor<8x3xf32>
train.variable @bias parameter : tensor<3xf32>
train.variable @frozen frozen : tensor<8x8xf32>

// The frozen weight costs no gradient: its product is not differentiated.
// CHECK-LABEL: train.step @micro_step micro ("x" %{{.*}}: tensor<4x8xf32>, "labels" %{{.*}}: tensor<4xi64>)
// CHECK-SAME: labelsNames = ["labels"], labelsRanges = [#train.index_range<0 to 3 or -100>]
// CHECK: %[[H:.*]] = nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} : tensor<4x8xf32>, tensor<8x8xf32>
// CHECK: nn.cross_entropy
// CHECK: train.report_loss
// CHECK: %[[DW:.*]] = nn.contract "ik,ij->kj" %[[H]]
// CHECK-NOT: nn.contract
// CHECK: train.grad_norm %[[DW]], %{{.*}} of [@weight, @bias] :
// CHECK: train.update "adamw" @weight, %[[DW]] state {exp_avg = @weight.exp_avg, exp_avg_sq = @weight.exp_avg_sq} decay
// CHECK: train.update "adamw" @bias

// The evaluation drops nothing and updates nothing.
// CHECK-LABEL: train.step @evaluate evaluate
// CHECK-NOT: nn.dropout
// CHECK: train.report_loss
// CHECK-NOT: train.update

// SGD: train.update "sgd" @weight, %{{.*}} state {momentum_buffer = @weight.momentum_buffer} decay
// SGD: train.update "sgd" @bias, %{{.*}} state {momentum_buffer = @bias.momentum_buffer} :

// ACCUMULATE: train.variable @weight.grad gradient
// ACCUMULATE: train.step @micro_step
// ACCUMULATE: train.accumulate @weight.grad
// ACCUMULATE-NOT: train.update
// ACCUMULATE: train.step @update update ()
// ACCUMULATE: train.read @weight.grad
// ACCUMULATE: train.update "adamw" @weight

// INFERENCE-NOT: labels
// INFERENCE: train.step @forward_step forward ("x"
// INFERENCE: train.output "logits"

// LOSS: expects a loss of cross_entropy, nll, mse, l1, huber, smooth_l1, bce_with_logits, focal, dice, kl_div, soft_cross_entropy or none, but got 'hinge'
// NODECAY: expects --no-decay to match the name of a parameter, but 'norm' matches none
// FROZEN-GROUP: expects --param-group to match the name of a parameter that is trained, but 'frozen' matches only frozen parameters and buffers
// LOGITS: expects 'logits' to name an output of the model (logits), but got 'other'

func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x3xf32> {nn.name = "logits"}) {
  %f = train.read @frozen : tensor<8x8xf32>
  %w = train.read @weight : tensor<8x3xf32>
  %b = train.read @bias : tensor<3xf32>
  %h = nn.contract "ik,kj->ij" %x, %f : tensor<4x8xf32>, tensor<8x8xf32>
  %0 = nn.contract "ik,kj->ij" %h, %w : tensor<4x8xf32>, tensor<8x3xf32>
  %1 = nn.broadcast %b : tensor<3xf32> to tensor<4x3xf32>
  %2 = arith.addf %0, %1 : tensor<4x3xf32>
  %3 = nn.dropout %2 ratio 0.5 stream 0 : tensor<4x3xf32>
  return %3 : tensor<4x3xf32>
}
