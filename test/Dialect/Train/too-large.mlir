// RUN: not gpuopt-opt %s -split-input-file -train-schedule=activation-budget=1000000 2>&1 | FileCheck %s --check-prefix=SCHEDULE
// RUN: not gpuopt-opt %s -split-input-file -train-plan-memory 2>&1 | FileCheck %s --check-prefix=PACK

// Tensors of 2^60 bytes: a schedule sums up four times as many as 64 bits hold,
// an arena one time.
// SCHEDULE: error: 'train.step' op cannot be scheduled: op {{[0-9]+}} makes the sum of all sizes overflow
// PACK: error: 'train.step' op cannot be packed into an arena: {{.*}} makes the sum of all sizes overflow 64 bits
train.step @micro_step micro ("x" %x0: tensor<288230376151711744xf32>) {
  %x1 = nn.fused "tanh" %x0 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x2 = nn.fused "tanh" %x1 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x3 = nn.fused "tanh" %x2 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x4 = nn.fused "tanh" %x3 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x5 = nn.fused "tanh" %x4 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  train.output "y", %x5 : tensor<288230376151711744xf32>
}

// -----

train.step @micro_step micro ("x" %x0: tensor<288230376151711744xf32>) {
  %x1 = nn.fused "tanh" %x0 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x2 = nn.fused "tanh" %x1 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x3 = nn.fused "tanh" %x2 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x4 = nn.fused "tanh" %x3 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x5 = nn.fused "tanh" %x4 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x6 = nn.fused "tanh" %x5 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x7 = nn.fused "tanh" %x6 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x8 = nn.fused "tanh" %x7 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  %x9 = nn.fused "tanh" %x8 : tensor<288230376151711744xf32> -> tensor<288230376151711744xf32> {
  ^bb0(%a: tensor<288230376151711744xf32>):
    %0 = math.tanh %a : tensor<288230376151711744xf32>
    nn.yield %0 : tensor<288230376151711744xf32>
  }
  train.output "y", %x9 : tensor<288230376151711744xf32>
}
