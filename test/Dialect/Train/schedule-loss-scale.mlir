// RUN: not gpuopt-opt %s --pass-pipeline='builtin.module(train-plan-state,train-schedule{activation-budget=700000 device=h200})' -o /dev/null 2>&1 | FileCheck %s

// The norm replaces the loss scale by the next step's. To run again behind it,
// %h would have to read that one.
// CHECK: error: activation budget 683.6 KiB cannot be met: the smallest budget that can be met is 768.0 KiB
train.variable @loss_scale loss_scale : tensor<f32>
train.variable @w parameter : tensor<256x256xf32>
train.variable @v parameter : tensor<256x256xf32>
train.step @micro_step micro ("x" %x: tensor<256xf32>) {
  %s = train.read @loss_scale : tensor<f32>
  %g = nn.fused "g" %x, %s : tensor<256xf32>, tensor<f32> -> tensor<256x256xf32> {
  ^bb0(%a: tensor<256xf32>, %b: tensor<f32>):
    %1 = nn.broadcast %a : tensor<256xf32> to tensor<256x256xf32>
    %2 = nn.broadcast %b : tensor<f32> to tensor<256x256xf32>
    %3 = arith.mulf %1, %2 : tensor<256x256xf32>
    nn.yield %3 : tensor<256x256xf32>
  }
  %h = nn.fused "h" %x, %s : tensor<256xf32>, tensor<f32> -> tensor<256x256xf32> {
  ^bb0(%a: tensor<256xf32>, %b: tensor<f32>):
    %1 = nn.broadcast %a : tensor<256xf32> to tensor<256x256xf32>
    %2 = nn.broadcast %b : tensor<f32> to tensor<256x256xf32>
    %3 = arith.subf %1, %2 : tensor<256x256xf32>
    nn.yield %3 : tensor<256x256xf32>
  }
  train.grad_norm %g, %h of [@w, @v] scale @loss_scale over 256 : tensor<256x256xf32>, tensor<256x256xf32>
  %big = nn.fused "big" %g : tensor<256x256xf32> -> tensor<256x256xf32> {
  ^bb0(%a: tensor<256x256xf32>):
    %3 = math.tanh %a : tensor<256x256xf32>
    nn.yield %3 : tensor<256x256xf32>
  }
  train.update "sgd" @w, %big : tensor<256x256xf32>
  train.update "sgd" @v, %h : tensor<256x256xf32>
}
