// RUN: gpuopt-opt %s --nn-expand-attention=cached | FileCheck %s
// RUN: gpuopt-opt %s --nn-expand-attention=cached --remarks-filter=expand-attention --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --nn-expand-attention | FileCheck %s --check-prefix=FUSED
// RUN: gpuopt-opt %s --nn-expand-attention="cached inference" | FileCheck %s --check-prefix=FUSED
// RUN: gpuopt-opt %s --nn-expand-attention="cached device=h200" | FileCheck %s --check-prefix=FUSED
// RUN: not gpuopt-opt %s --nn-expand-attention="cached device=tpu" 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: tpu

// 8 MiB of probabilities for a cache of 32.
// CHECK-LABEL: func.func @cached
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// REMARK: attention is expanded, with its matrix of probabilities in memory: it fits in the processor's cache
// FUSED-LABEL: func.func @cached
// FUSED: nn.attention
func.func @cached(%q: tensor<8x1024x16xf32>, %k: tensor<8x256x16xf32>) -> tensor<8x1024x16xf32> {
  %0:2 = nn.attention %q, %k, %k scale 0.25 : tensor<8x1024x16xf32>, tensor<8x256x16xf32>, tensor<8x256x16xf32>
  return %0#0 : tensor<8x1024x16xf32>
}

// 64 MiB.
// CHECK-LABEL: func.func @larger_than_the_cache
// CHECK: nn.attention
// REMARK-NOT: attention is expanded
func.func @larger_than_the_cache(%q: tensor<16x1024x16xf32>) -> tensor<16x1024x16xf32> {
  %0:2 = nn.attention %q, %q, %q scale 0.25 : tensor<16x1024x16xf32>, tensor<16x1024x16xf32>, tensor<16x1024x16xf32>
  return %0#0 : tensor<16x1024x16xf32>
}
