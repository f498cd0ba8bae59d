// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 override=y=fp16" --train-insert-casts | FileCheck %s

// A bias is added in the type of the product's result. The kernel that makes it
// rounds it, and what else reads it has it in f32 from there.

// CHECK-LABEL: train.step @bias
// CHECK: %[[BIAS:.*]]:2 = nn.fused "square" %{{.*}} : tensor<64xf32> -> tensor<64xf32>, tensor<64xf16>
// CHECK-NOT: nn.fused "cast" %[[BIAS]]
// CHECK: nn.contract "ik,kj->ij" %{{.*}}, %{{.*}} bias %[[BIAS]]#1 : tensor<4096x64xf16>, tensor<64x64xf16> bias tensor<64xf16>
// CHECK: train.output "b", %[[BIAS]]#0
train.variable @w parameter : tensor<64x64xf32>
train.step @bias forward ("x" %x: tensor<4096x64xf32>, "b" %b: tensor<64xf32>) {
  %w = train.read @w : tensor<64x64xf32>
  %0 = nn.fused "square" %b : tensor<64xf32> -> tensor<64xf32> {
  ^bb0(%e: tensor<64xf32>):
    %1 = arith.mulf %e, %e : tensor<64xf32>
    nn.yield %1 : tensor<64xf32>
  }
  %y = nn.contract "ik,kj->ij" %x, %w bias %0 : tensor<4096x64xf32>, tensor<64x64xf32> bias tensor<64xf32> loc("y"("MatMul"))
  %2 = nn.fused "relu" %y : tensor<4096x64xf32> -> tensor<4096x64xf32> {
  ^bb0(%e: tensor<4096x64xf32>):
    %3 = arith.mulf %e, %e : tensor<4096x64xf32>
    nn.yield %3 : tensor<4096x64xf32>
  } loc("r"("Relu"))
  %4 = nn.contract "ik,kj->ij" %2, %w : tensor<4096x64xf32>, tensor<64x64xf32> loc("y"("MatMul"))
  train.output "y", %4 : tensor<4096x64xf32>
  train.output "b", %0 : tensor<64xf32>
}
