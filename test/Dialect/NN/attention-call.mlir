// RUN: gpuopt-opt %s --nn-absorb-layouts | FileCheck %s --check-prefix=ORDER
// RUN: gpuopt-opt %s --nn-absorb-layouts --canonicalize --kernels-materialize-views --verify-clusters --train-plan-memory \
// RUN:   --convert-to-device --verify-device | gpuopt-translate --device-to-cxx | FileCheck %s

// Query, key and value are parts of one projection, and their gradients are
// written into one tensor. All are read and written where they lie.

// ORDER-LABEL: train.step @forward
// ORDER: %[[Y:.*]], %[[S:.*]] = nn.attention %{{.*}} band [-8, 0] order [0, 2, 1, 3]
// ORDER: nn.attention_grad {{.*}} order [0, 2, 1, 3]
// CHECK: #include "gpuopt/ops/attention.h"
// CHECK: constexpr AttentionShape kAttention8x8_16 = {.batch = {2, 4, 1}, .queries = 8, .keys = 8, .key_size = 16,
// CHECK-NEXT: .value_size = 16, .q_batch = {1536, 16}, .q_row = 192, .k_batch = {1536, 16}, .k_row = 192,
// CHECK-NEXT: .v_batch = {1536, 16}, .v_row = 192, .y_batch = {512, 16}, .y_row = 64, .first_key = -8, .last_key = 0};
// CHECK-NEXT: constexpr AttentionGradientShape kAttention8x8_16_gradients = {.dy_batch = {512, 16}, .dy_row = 64,
// CHECK-NEXT: .dq_batch = {1536, 16}, .dq_row = 192, .dk_batch = {1536, 16}, .dk_row = 192, .dv_batch = {1536, 16},
// CHECK-NEXT: .dv_row = 192};
// Masks are read where they lie, with a stride of 0 where they are repeated.
// CHECK: .mask_batch = {0, 8}, .mask_key = 1};
// CHECK: .mask_row = 8, .mask_key = 1};
// CHECK: constexpr AttentionShape kAttention8x8_16_4 = {.batch = {2, 3, 4}, .queries = 8, .keys = 8,
// CHECK: .q_batch = {1536, 512, 128}, .q_row = 16,
// CHECK: .mask_batch = {0, 64},
// CHECK-NEXT: .mask_row = 8, .mask_key = 1, .bias_batch = {0, 0, 64}, .bias_row = 8, .bias_key = 1};
// CHECK: kAttention8x8_16_gradients_2 = {{.*}}
// CHECK: .dbias_batch = {0, 0, 64}, .dbias_row = 8, .dbias_key = 1};
// CHECK: kAttention8x8_16_gradients_3 = {{.*}}
// CHECK-NOT: .dbias
// CHECK: constexpr AttentionShape kAttention8x9_16 = {.batch = {2, 3, 2}, .queries = 8, .keys = 9,
// CHECK: .q_batch = {768, 256, 128}, .q_row = 16, .k_batch = {432, 144}, .k_row = 16,
// CHECK-NEXT: .v_batch = {432, 144}, {{.*}}, .mask_batch = {0, 144, 72},
// CHECK-NEXT: .mask_row = 9, .mask_key = 1};
// CHECK: .dq_batch = {768, 256, 128}, .dq_row = 16, .dk_batch = {432, 144}, .dk_row = 16, .dv_batch = {432, 144},
// CHECK-NOT: fused_copy
// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x8_16, m[kX], m[kX] + 64, m[kX] + 128, m[kY],
// CHECK: {.scale = 0.25, .dropout = 0.1, .stream = 3, .state = state});
// CHECK: attention_backward<64, AttentionScores::Changed>(ctx, kAttention8x8_16, kAttention8x8_16_gradients, m[kX],
// CHECK-NEXT: m[kX] + 64, m[kX] + 128, m[kY], m[kAttention], m[kDy], m[kDx], m[kDx] + 64, m[kDx] + 128,
train.step @forward forward ("x" %x: tensor<2x8x192xf32>, "dy" %dy: tensor<2x8x64xf32>) {
  %q2 = nn.slice %x [0, 0, 0] [2, 8, 64] [1, 1, 1] : tensor<2x8x192xf32>
  %k2 = nn.slice %x [0, 0, 64] [2, 8, 64] [1, 1, 1] : tensor<2x8x192xf32>
  %v2 = nn.slice %x [0, 0, 128] [2, 8, 64] [1, 1, 1] : tensor<2x8x192xf32>
  %q3 = nn.reshape %q2 : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %k3 = nn.reshape %k2 : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %v3 = nn.reshape %v2 : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %q = nn.transpose %q3 [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  %k = nn.transpose %k3 [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  %v = nn.transpose %v3 [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  %y, %s = nn.attention %q, %k, %v scale 0.25 dropout 0.1 stream 3 band [-8, 0]
      : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>
  %yt = nn.transpose %y [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %dy3 = nn.reshape %dy : tensor<2x8x64xf32> to tensor<2x8x4x16xf32>
  %dyt = nn.transpose %dy3 [0, 2, 1, 3] : tensor<2x8x4x16xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %y, %s, %dyt scale 0.25 dropout 0.1 stream 3 band [-8, 0]
      : tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x2x4x8xf32>, tensor<2x4x8x16xf32>
  %dqt = nn.transpose %dq [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %dkt = nn.transpose %dk [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %dvt = nn.transpose %dv [0, 2, 1, 3] : tensor<2x4x8x16xf32>
  %dx = nn.concat %dqt, %dkt, %dvt dim 2 : tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>, tensor<2x8x4x16xf32>
  train.output "y", %yt : tensor<2x8x4x16xf32>
  train.output "dx", %dx : tensor<2x8x12x16xf32>
}

// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x8_16_2, {{.*}}
// CHECK: {.mask = m[kSeen], .masked_value = -1e+04, .zeroes_empty = 1});
// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x8_16_3, {{.*}}
// CHECK: {.softcap = 5e+01, .added_mask = m[kAdded]});
train.step @masked micro ("x" %x: tensor<2x8x16xf32>, "seen" %seen: tensor<2x1x8xi1>, "added" %added: tensor<8x8xf32>) {
  %y, %s = nn.attention %x, %x, %x mask %seen scale 1.0 {masked_value = -1.0e4 : f64, zeroes_empty}
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x1x8xi1>
  %z, %t = nn.attention %y, %x, %x mask %added scale 1.0 softcap 50.0
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<8x8xf32>
  train.output "z", %z : tensor<2x8x16xf32>
}

// Each window has a mask, and each head a bias, whose gradient is summed over
// the batch and the windows. A gradient that nobody reads is not computed.
// CHECK: attention_backward<64, AttentionScores::Changed>(ctx, kAttention8x8_16_4, kAttention8x8_16_gradients_2,
// CHECK: {.added_mask = m[kMask], .bias = m[kBias], .bias_gradient = m[kAttentionGrad4]});
// CHECK: attention_backward<64, AttentionScores::Changed>(ctx, kAttention8x8_16_4, kAttention8x8_16_gradients_3,
// CHECK: {.added_mask = m[kMask], .bias = m[kBias]});
train.step @windows evaluate ("x" %x: tensor<2x3x4x8x16xf32>, "mask" %mask: tensor<1x3x1x8x8xf32>, "bias" %bias: tensor<4x8x8xf32>) {
  %y, %s = nn.attention %x, %x, %x mask %mask bias %bias : tensor<4x8x8xf32> scale 1.0
      : tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<1x3x1x8x8xf32>
  %dq, %dk, %dv, %db = nn.attention_grad %x, %x, %x, %y, %s, %x mask %mask bias %bias : tensor<4x8x8xf32> scale 1.0
      : tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x2x3x4x8xf32>, tensor<2x3x4x8x16xf32>, tensor<1x3x1x8x8xf32>
  %eq, %ek, %ev, %eb = nn.attention_grad %x, %x, %x, %y, %s, %dq mask %mask bias %bias : tensor<4x8x8xf32> scale 1.0
      : tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x3x4x8x16xf32>, tensor<2x2x3x4x8xf32>, tensor<2x3x4x8x16xf32>, tensor<1x3x1x8x8xf32>
  train.output "eq", %eq : tensor<2x3x4x8x16xf32>
  train.output "ek", %ek : tensor<2x3x4x8x16xf32>
  train.output "ev", %ev : tensor<2x3x4x8x16xf32>
  train.output "db", %db : tensor<4x8x8xf32>
}

// Heads that share keys are a dimension of the batch in which these have a
// stride of 0.
// CHECK: attention_backward<64, AttentionScores::Changed>(ctx, kAttention8x9_16, kAttention8x9_16_gradients,
train.step @grouped update ("q" %q: tensor<2x6x8x16xf32>, "k" %k: tensor<2x3x9x16xf32>, "mask" %m: tensor<6x8x9xf32>) {
  %y, %s = nn.attention %q, %k, %k mask %m scale 1.0 : tensor<2x6x8x16xf32>, tensor<2x3x9x16xf32>, tensor<2x3x9x16xf32>, tensor<6x8x9xf32>
  %dq, %dk, %dv = nn.attention_grad %q, %k, %k, %y, %s, %q mask %m scale 1.0
      : tensor<2x6x8x16xf32>, tensor<2x3x9x16xf32>, tensor<2x3x9x16xf32>, tensor<2x6x8x16xf32>, tensor<2x2x6x8xf32>, tensor<2x6x8x16xf32>, tensor<6x8x9xf32>
  train.output "dq", %dq : tensor<2x6x8x16xf32>
  train.output "dk", %dk : tensor<2x3x9x16xf32>
  train.output "dv", %dv : tensor<2x3x9x16xf32>
}
