// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s --check-prefix=KEYS
// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | grep -o '#[0-9a-f]* f32' | sort -u | count 3

// The key of a kernel holds a hash of its body. Those of the first and the last
// are equal: they differ in the value of a constant alone. The second one, of
// the same label and types, does more work; the third other work.
// KEYS: device.step @micro_step
// KEYS: device.cost_key = ["[[ORIGIN:[^"]*]]", "fused add #[[ONE:[0-9a-f]+]] f32[8,16] f32[8,16] -> f32[8,16]"]
// KEYS: device.cost_key = ["[[ORIGIN]]", "fused add #{{[0-9a-f]+}} f32[8,16] f32[8,16] -> f32[8,16]"]
// KEYS: device.cost_key = ["[[ORIGIN]]", "fused add #{{[0-9a-f]+}} f32[8,16] f32[8,16] -> f32[8,16]"]
// KEYS: device.cost_key = ["[[ORIGIN]]", "fused add #[[ONE]] f32[8,16] f32[8,16] -> f32[8,16]"]
train.step @micro_step micro ("x" %x: tensor<8x16xf32>, "y" %y: tensor<8x16xf32>) {
  %one = nn.fused "add" %x, %y : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %c = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = arith.addf %a, %c : tensor<8x16xf32>
    %1 = arith.addf %0, %b : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  %more = nn.fused "add" %one, %y : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %c = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = arith.addf %a, %c : tensor<8x16xf32>
    %1 = arith.addf %0, %b : tensor<8x16xf32>
    %2 = arith.addf %1, %a : tensor<8x16xf32>
    nn.yield %2 : tensor<8x16xf32>
  }
  %other = nn.fused "add" %more, %y : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %c = arith.constant dense<1.0> : tensor<8x16xf32>
    %0 = arith.addf %a, %c : tensor<8x16xf32>
    %1 = arith.addf %0, %a : tensor<8x16xf32>
    %2 = arith.addf %b, %b : tensor<8x16xf32>
    %3 = arith.addf %1, %2 : tensor<8x16xf32>
    nn.yield %3 : tensor<8x16xf32>
  }
  %again = nn.fused "add" %other, %y : tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>):
    %c = arith.constant dense<2.0> : tensor<8x16xf32>
    %0 = arith.addf %a, %c : tensor<8x16xf32>
    %1 = arith.addf %0, %b : tensor<8x16xf32>
    nn.yield %1 : tensor<8x16xf32>
  }
  train.output "z", %again : tensor<8x16xf32>
}
