// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-fast-math,train-schedule{activation-budget=2048 device=h200})' | FileCheck %s
// RUN: gpuopt-opt %s --pass-pipeline='builtin.module(kernels-mark-fast-math,train-schedule{activation-budget=2048 device=h200},train-plan-memory,convert-to-device{device=h200})' \
// RUN:   | FileCheck %s --check-prefix=DEVICE

// A value that is computed again has the bits of the first one, though the
// kernel that does so reads and makes less. Which functions are fast is decided
// before. The budget is that of schedule.mlir, where y2 is computed again.

train.variable @w parameter : tensor<16x16xf32>

// The first kernel asks for t itself beside 1 + t, the second for 1 + t alone.
// CHECK-LABEL: train.step @users
// CHECK: nn.reduce
// CHECK: train.recompute
// CHECK: math.tanh %{{[^ ]*}} : tensor
// DEVICE-LABEL: device.kernel @fused_two blocks
// DEVICE: math.tanh %{{[^ ]*}} : f32
// DEVICE-LABEL: device.kernel @fused_add_tanh blocks
// DEVICE: math.tanh %{{[^ ]*}} : f32
// DEVICE-LABEL: device.step @users
train.step @users micro ("x" %x: tensor<8x16xf32>, "h" %h: tensor<8x16xf16>) {
  %w = train.read @w : tensor<16x16xf32>
  %y1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y2, %sums = nn.fused "two" %y1, %h : tensor<8x16xf32>, tensor<8x16xf16> -> tensor<8x16xf32>, tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf16>):
    %one = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = arith.extf %b : tensor<8x16xf16> to tensor<8x16xf32>
    %1 = arith.addf %a, %0 : tensor<8x16xf32>
    %t = math.tanh %1 : tensor<8x16xf32>
    %2 = arith.addf %t, %one : tensor<8x16xf32>
    %3 = arith.mulf %t, %a : tensor<8x16xf32>
    %4 = nn.reduce sum %3 [1] : tensor<8x16xf32>
    nn.yield %2, %4 : tensor<8x16xf32>, tensor<8x1xf32>
  }
  %y3 = nn.contract "ik,kj->ij" %y2, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y4 = nn.fused "neg" %y3 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = arith.negf %a : tensor<8x16xf32>
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

// The second kernel reads the sum of which a part comes from half precision.
// CHECK-LABEL: train.step @operands
// CHECK: math.tanh %{{[^ ]*}} fastmath<afn> : tensor
// CHECK: train.recompute
// CHECK: math.tanh %{{[^ ]*}} fastmath<afn> : tensor
// DEVICE-LABEL: device.kernel @fused_two_2 blocks
// DEVICE: math.tanh %{{[^ ]*}} fastmath<afn> : f32
// DEVICE-LABEL: device.kernel @fused_tanh_add blocks
// DEVICE: math.tanh %{{[^ ]*}} fastmath<afn> : f32
// DEVICE-LABEL: device.step @operands
train.step @operands micro ("x" %x: tensor<8x16xf32>, "h" %h: tensor<8x16xf16>) {
  %w = train.read @w : tensor<16x16xf32>
  %y1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %middle, %y2 = nn.fused "two" %y1, %h : tensor<8x16xf32>, tensor<8x16xf16> -> tensor<8x16xf32>, tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf16>):
    %one = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = arith.extf %b : tensor<8x16xf16> to tensor<8x16xf32>
    %1 = arith.addf %a, %0 : tensor<8x16xf32>
    %t = math.tanh %1 : tensor<8x16xf32>
    %2 = arith.addf %t, %one : tensor<8x16xf32>
    nn.yield %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>
  }
  %y3 = nn.contract "ik,kj->ij" %y2, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y4 = nn.fused "neg" %y3 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = arith.negf %a : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  train.output "y4", %y4 : tensor<8x16xf32>
  %y5 = nn.contract "ik,kj->ij" %y4, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y6 = nn.fused "add" %y5, %y4 : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  %y7 = nn.contract "ik,kj->ij" %y6, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y8 = nn.fused "add" %y7, %y2, %middle : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    %1 = arith.addf %0, %c : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y8", %y8 : tensor<8x16xf32>
}

// The second kernel reads the divisor, of which the first knows that it is at
// least 1.
// CHECK-LABEL: train.step @divisor
// CHECK: arith.divf {{.*}} fastmath<arcp> : tensor
// CHECK: train.recompute
// CHECK: arith.divf {{.*}} fastmath<arcp> : tensor
// DEVICE-LABEL: device.kernel @fused_two_3 blocks
// DEVICE: arith.divf {{.*}} fastmath<arcp> : f32
// DEVICE-LABEL: device.kernel @fused_div blocks
// DEVICE: arith.divf {{.*}} fastmath<arcp> : f32
// DEVICE-LABEL: device.step @divisor
train.step @divisor micro ("x" %x: tensor<8x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %y1 = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %sum, %y2 = nn.fused "two" %y1 : tensor<8x16xf32> -> tensor<8x16xf32>, tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %one = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = math.exp %a : tensor<8x16xf32>
    %1 = arith.addf %0, %one : tensor<8x16xf32>
    %2 = arith.divf %one, %1 : tensor<8x16xf32>
    nn.yield %1, %2 : tensor<8x16xf32>, tensor<8x16xf32>
  }
  %y3 = nn.contract "ik,kj->ij" %y2, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y4 = nn.fused "neg" %y3 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %0 = arith.negf %a : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  train.output "y4", %y4 : tensor<8x16xf32>
  %y5 = nn.contract "ik,kj->ij" %y4, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y6 = nn.fused "add" %y5, %y4 : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    nn.yield %0 : tensor<8x16xf32>
  }
  %y7 = nn.contract "ik,kj->ij" %y6, %w : tensor<8x16xf32>, tensor<16x16xf32>
  %y8 = nn.fused "add" %y7, %y2, %sum : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>):
    %0 = arith.addf %a, %b : tensor<8x16xf32>
    %1 = arith.addf %0, %c : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "y8", %y8 : tensor<8x16xf32>
}
