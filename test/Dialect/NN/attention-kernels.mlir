// RUN: gpuopt-opt %s --canonicalize --kernels-materialize-views --verify-clusters --train-plan-memory \
// RUN:   --convert-to-device --verify-device | gpuopt-translate --device-to-cxx | FileCheck %s

// A call names the kernels that compute it, so that no others are compiled:
// those for the size of heads, and for what it does with scores.

// CHECK: attention<64, AttentionScores::Products>(ctx, kAttention8x8_16,
// CHECK: attention<64, AttentionScores::Masked>(ctx, kAttention8x8_16_2,
// CHECK: attention_backward<64, AttentionScores::Masked>(ctx, kAttention8x8_16_2,
train.step @masks forward ("x" %x: tensor<2x8x16xf16>, "mask" %mask: tensor<2x1x8xf32>) {
  %y, %s = nn.attention %x, %x, %x scale 0.25 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  %z, %t = nn.attention %y, %x, %x mask %mask scale 0.25
      : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x1x8xf32>
  %dq, %dk, %dv = nn.attention_grad %y, %x, %x, %z, %t, %x mask %mask scale 0.25
      : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x2x8xf32>, tensor<2x8x16xf16>, tensor<2x1x8xf32>
  train.output "dq", %dq : tensor<2x8x16xf16>
  train.output "dk", %dk : tensor<2x8x16xf16>
  train.output "dv", %dv : tensor<2x8x16xf16>
}

// Kernels for masks load pairs of elements, in half precision, for small heads.
// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x9_16,
// CHECK: attention<128, AttentionScores::Changed>(ctx, kAttention8x8_72,
train.step @other_masks micro ("odd" %odd: tensor<2x9x16xf16>, "x" %x: tensor<2x8x16xf16>, "large" %large: tensor<2x8x72xf16>,
                               "mask" %mask: tensor<8x8xf32>, "odd_mask" %odd_mask: tensor<8x9xf32>) {
  %0, %1 = nn.attention %x, %odd, %odd mask %odd_mask scale 0.25
      : tensor<2x8x16xf16>, tensor<2x9x16xf16>, tensor<2x9x16xf16>, tensor<8x9xf32>
  %2, %3 = nn.attention %large, %large, %large mask %mask scale 0.25
      : tensor<2x8x72xf16>, tensor<2x8x72xf16>, tensor<2x8x72xf16>, tensor<8x8xf32>
  train.output "0", %0 : tensor<2x8x16xf16>
  train.output "2", %2 : tensor<2x8x72xf16>
}

// Values may be larger than queries. What no other kernels do is a change.
// CHECK: attention<256, AttentionScores::Products>(ctx, kAttention8x8_16_3,
// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x8_16, {{.*}}
// CHECK-NEXT: {.scale = -0.25});
// CHECK: attention<64, AttentionScores::Changed>(ctx, kAttention8x8_16_4, {{.*}}
// CHECK-NEXT: {.scale = 0.25, .mask = m[kSeen]});
train.step @changes evaluate ("x" %x: tensor<2x8x16xf16>, "v" %v: tensor<2x8x136xf16>, "seen" %seen: tensor<8x8xi1>) {
  %0, %1 = nn.attention %x, %x, %v scale 0.25 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x136xf16>
  %2, %3 = nn.attention %x, %x, %x scale -0.25 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>
  %4, %5 = nn.attention %x, %x, %x mask %seen scale 0.25
      : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<8x8xi1>
  train.output "changed", %0 : tensor<2x8x136xf16>
  train.output "changed_2", %2 : tensor<2x8x16xf16>
  train.output "changed_4", %4 : tensor<2x8x16xf16>
}

// Rows that are not aligned have kernels of their own: rows that have no
// multiple of 16 bytes, here keys, values and the gradient of the output.
// CHECK: attention<64, AttentionScores::ChangedUnaligned>(ctx, kAttention8x8_12,
// CHECK: attention<64, AttentionScores::ChangedUnaligned>(ctx, kAttention8x8_16{{[_0-9]*}},
// CHECK: attention<64, AttentionScores::Products>(ctx, kAttention8x8_12{{[_0-9]*}},
// CHECK: attention_backward<64, AttentionScores::ChangedUnaligned>(ctx, kAttention8x8_16{{[_0-9]*}},
train.step @rows prepare ("x" %x: tensor<2x8x16xf16>, "k" %k: tensor<2x8x12xf16>, "f" %f: tensor<2x8x12xf32>) {
  %0, %1 = nn.attention %k, %k, %x scale 0.25 : tensor<2x8x12xf16>, tensor<2x8x12xf16>, tensor<2x8x16xf16>
  %2, %3 = nn.attention %x, %x, %k scale 0.25 : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x12xf16>
  %4, %5 = nn.attention %f, %f, %f scale 0.25 : tensor<2x8x12xf32>, tensor<2x8x12xf32>, tensor<2x8x12xf32>
  %dq, %dk, %dv = nn.attention_grad %x, %x, %k, %2, %3, %2 scale 0.25
      : tensor<2x8x16xf16>, tensor<2x8x16xf16>, tensor<2x8x12xf16>, tensor<2x8x12xf16>, tensor<2x2x8xf32>, tensor<2x8x12xf16>
  train.output "of_keys", %0 : tensor<2x8x16xf16>
  train.output "of_f32", %4 : tensor<2x8x12xf32>
  train.output "rows_dq", %dq : tensor<2x8x16xf16>
  train.output "rows_dk", %dk : tensor<2x8x16xf16>
  train.output "rows_dv", %dv : tensor<2x8x12xf16>
}
