// RUN: gpuopt-opt %s --canonicalize --kernels-materialize-views --verify-clusters --train-plan-memory \
// RUN:   --convert-to-device --verify-device | gpuopt-translate --device-to-cxx --device-to-cxx-tf32 | FileCheck %s

// Where products may be in TF32, calls of attention name it, since its kernels
// are compiled for it. Half precision has kernels of its own, and a product of a
// library is told at run time.

// CHECK: attention<64, AttentionScores::Products, tf32>(ctx, kAttention8x8_16,
// CHECK: attention<64, AttentionScores::Products>(ctx, kAttention8x8_16{{[_0-9]*}},
// CHECK: attention_backward<64, AttentionScores::Products, tf32>(ctx, kAttention8x8_16,
// CHECK: gemm(ctx,
train.step @step forward ("x" %x: tensor<2x8x16xf32>, "h" %h: tensor<2x8x16xf16>) {
  %y, %s = nn.attention %x, %x, %x scale 0.25 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  %z, %t = nn.attention %h, %h, %h scale 0.25 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  %dq, %dk, %dv = nn.attention_grad %x, %x, %x, %y, %s, %y scale 0.25
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x2x8xf32>, tensor<2x8x16xf32>
  %p = nn.contract "axy,azy->axz" %dq, %dk : tensor<2x8x16xf32>, tensor<2x8x16xf32>
  train.output "z", %z : tensor<2x8x16xf16>
  train.output "p", %p : tensor<2x8x8xf32>
  train.output "dv", %dv : tensor<2x8x16xf32>
}
