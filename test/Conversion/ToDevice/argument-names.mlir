// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s

// Two layers share a kernel. What each launch passes is a layer's weight or an
// input, and its parameters are called so; what one launch takes from a product
// and another one from an addition stays x and y. The second of a name is numbered.

train.variable @h.0.norm.weight parameter : tensor<8x16xf32>
train.variable @h.1.norm.weight parameter : tensor<8x16xf32>
train.variable @h.0.next.weight parameter : tensor<8x16xf32>
train.variable @h.1.next.weight parameter : tensor<8x16xf32>

// CHECK-LABEL: device.kernel @fused_add
// CHECK-SAME: ["x0", "weight", "weight_2", "input", "y"]
// CHECK-NOT: device.kernel
train.step @forward_step forward ("Input" %in: tensor<8x16xf32>) {
  %w0 = train.read @h.0.norm.weight : tensor<8x16xf32>
  %v0 = train.read @h.0.next.weight : tensor<8x16xf32>
  %0 = nn.fused "add" %in, %w0, %v0, %in {nn.origins = #nn.origins<"h.0/mul_1">} : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>, %d: tensor<8x16xf32>):
    %1 = arith.addf %a, %b : tensor<8x16xf32>
    %2 = arith.addf %1, %c : tensor<8x16xf32>
    %3 = arith.addf %2, %d : tensor<8x16xf32>
    nn.yield %3 : tensor<8x16xf32>
  }
  %w1 = train.read @h.1.norm.weight : tensor<8x16xf32>
  %v1 = train.read @h.1.next.weight : tensor<8x16xf32>
  %4 = nn.fused "add" %0, %w1, %v1, %in {nn.origins = #nn.origins<"h.1/add_2">} : tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>, %c: tensor<8x16xf32>, %d: tensor<8x16xf32>):
    %1 = arith.addf %a, %b : tensor<8x16xf32>
    %2 = arith.addf %1, %c : tensor<8x16xf32>
    %3 = arith.addf %2, %d : tensor<8x16xf32>
    nn.yield %3 : tensor<8x16xf32>
  }
  train.output "out", %4 : tensor<8x16xf32>
}
