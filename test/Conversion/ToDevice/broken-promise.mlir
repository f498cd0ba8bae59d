// RUN: gpuopt-opt %s --train-plan-memory --convert-to-device -verify-diagnostics

// A schedule promised an arena of 512 bytes; whatever ran since left work that
// needs 1024: both results live while the second is made.

// expected-error @below {{expects an arena of 512 bytes, as it was scheduled, but needs 1024}}
train.step @micro_step micro ("x" %x: tensor<8x16xf32>) attributes {train.plan = {arena_bytes = 512 : i64}} {
  %0 = nn.fused "tanh" %x : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.tanh %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %1 = nn.fused "exp" %0 : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %2 = math.exp %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  train.output "y", %1 : tensor<8x16xf32>
}
