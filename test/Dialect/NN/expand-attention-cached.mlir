// RUN: gpuopt-opt %s -split-input-file --nn-expand-attention=cached | FileCheck %s
// RUN: gpuopt-opt %s -split-input-file --nn-expand-attention=cached --remarks-filter=expand-attention --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s -split-input-file --nn-expand-attention | FileCheck %s --check-prefix=FUSED
// RUN: gpuopt-opt %s -split-input-file --nn-expand-attention="cached inference" | FileCheck %s --check-prefix=FUSED
// RUN: gpuopt-opt %s -split-input-file --nn-expand-attention="cached device=h200" | FileCheck %s --check-prefix=FUSED
// RUN: not gpuopt-opt %s -split-input-file --nn-expand-attention="cached device=tpu" 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: tpu

// Two times 2 MiB of probabilities, which are an eighth of a cache of 32 MiB.
// CHECK-LABEL: func.func @cached
// CHECK-NOT: nn.attention
// CHECK: nn.softmax
// REMARK-COUNT-2: attention is expanded, with its matrix of probabilities in memory: the probabilities of the step are few, and a cache keeps them
// FUSED-LABEL: func.func @cached
// FUSED: nn.attention
func.func @cached(%q: tensor<8x1024x16xf32>, %k: tensor<8x64x16xf32>) -> tensor<8x1024x16xf32> {
  %0:2 = nn.attention %q, %k, %k scale 0.25 : tensor<8x1024x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>
  %1:2 = nn.attention %0#0, %k, %k scale 0.25 : tensor<8x1024x16xf32>, tensor<8x64x16xf32>, tensor<8x64x16xf32>
  return %1#0 : tensor<8x1024x16xf32>
}

// -----

// The formula would add the bias in a kernel of its own.
// CHECK-LABEL: func.func @with_a_bias
// CHECK: nn.attention
// REMARK-NOT: attention is expanded
func.func @with_a_bias(%q: tensor<2x8x16xf32>, %k: tensor<2x9x16xf32>, %bias: tensor<8x9xf32>) -> tensor<2x8x16xf32> {
  %0:2 = nn.attention %q, %k, %k bias %bias : tensor<8x9xf32> scale 0.25 : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>
  return %0#0 : tensor<2x8x16xf32>
}

// -----

// Two times 4 MiB; either would be few enough alone.
// CHECK-LABEL: func.func @larger_than_the_cache
// CHECK: nn.attention
// REMARK-NOT: attention is expanded
func.func @larger_than_the_cache(%q: tensor<8x1024x16xf32>, %k: tensor<8x128x16xf32>) -> tensor<8x1024x16xf32> {
  %0:2 = nn.attention %q, %k, %k scale 0.25 : tensor<8x1024x16xf32>, tensor<8x128x16xf32>, tensor<8x128x16xf32>
  %1:2 = nn.attention %0#0, %k, %k scale 0.25 : tensor<8x1024x16xf32>, tensor<8x128x16xf32>, tensor<8x128x16xf32>
  return %1#0 : tensor<8x1024x16xf32>
}
