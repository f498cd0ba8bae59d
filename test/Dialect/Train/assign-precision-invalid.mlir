// RUN: not gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200 override=cat=fp16" 2>&1 | FileCheck %s --check-prefix=SOURCE
// SOURCE: error: 'cat' must stay in fp32: it has the type of an input, parameter or constant
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200 override=first=fp16" 2>&1 | FileCheck %s --check-prefix=CHAIN
// CHAIN: error: precisions contradict each other: 'first', so 'cat' must be in half precision, but 'cat' must not
// RUN: not gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200 override=mask=fp16" 2>&1 | FileCheck %s --check-prefix=CONSTANT
// CONSTANT: error: 'mask' must stay in fp32: it has a constant that half precision cannot hold
// In bf16 it can.
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200 override=mask=bf16" -o /dev/null

train.step @micro_step micro ("x" %x: tensor<512x512xf32>, "w" %w: tensor<512x512xf32>) {
  %1 = nn.contract "ik,kj->ij" %x, %w : tensor<512x512xf32>, tensor<512x512xf32> loc("first"("MatMul"))
  %2 = nn.concat %1, %x dim 0 : tensor<512x512xf32>, tensor<512x512xf32> loc("cat"("Concat"))
  %3 = nn.contract "ik,kj->ij" %2, %w : tensor<1024x512xf32>, tensor<512x512xf32> loc("second"("MatMul"))
  %4 = nn.fused "mask" %3 {nn.origins = #nn.origins<"mask">} : tensor<1024x512xf32> -> tensor<1024x512xf32> {
  ^bb0(%a: tensor<1024x512xf32>):
    %c = arith.constant dense<1.0e30> : tensor<1024x512xf32>
    %0 = arith.addf %a, %c : tensor<1024x512xf32> loc("mask"("Add"))
    nn.yield %0 : tensor<1024x512xf32>
  } loc("mask"("Add"))
  %5 = nn.contract "ik,kj->ij" %4, %w : tensor<1024x512xf32>, tensor<512x512xf32> loc("third"("MatMul"))
  train.output "y", %5 : tensor<1024x512xf32>
}
