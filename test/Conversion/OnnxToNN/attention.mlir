// RUN: gpuopt-opt %s -convert-onnx-to-nn --split-input-file --verify-diagnostics | FileCheck %s

// Heads that lie side by side; each head of keys serves two of queries.
// CHECK-LABEL: func.func @forward
// CHECK: %[[Q:.*]] = nn.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x8x4x16xf32>
// CHECK: %[[K:.*]] = nn.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x8x2x16xf32>
// CHECK: %[[V:.*]] = nn.transpose %{{.*}} [0, 2, 1, 3] : tensor<2x8x2x5xf32>
// CHECK: %[[Y:.*]], %{{.*}} = nn.attention %[[Q]], %[[K]], %[[V]] scale 2.500000e-01 band [-8, 0] :
// CHECK: nn.transpose %[[Y]] [0, 2, 1, 3]
// CHECK: nn.reshape {{.*}} to tensor<2x8x20xf32>
onnx.graph @joined(%q: tensor<2x8x64xf32>, %k: tensor<2x8x32xf32>, %v: tensor<2x8x10xf32>) -> !onnx.unknown attributes {inputNames = ["q", "k", "v"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %k, %v) {q_num_heads = 4 : i64, kv_num_heads = 2 : i64, is_causal = 1 : i64} : (tensor<2x8x64xf32>, tensor<2x8x32xf32>, tensor<2x8x10xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// expected-error @below {{attribute softcap is not supported}}
onnx.graph @softcap(%q: tensor<2x4x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %q, %q) {softcap = 2.0 : f32} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// expected-error @below {{operand 0 must have rank 4, or rank 3 and heads (attribute q_num_heads) that divide its last dimension}}
onnx.graph @heads(%q: tensor<2x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %q, %q) {q_num_heads = 3 : i64, kv_num_heads = 3 : i64} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// expected-error @below {{the shapes of query, key and value do not agree}}
onnx.graph @none(%q: tensor<2x4x8x16xf32>, %k: tensor<2x0x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q", "k"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %k, %k) : (tensor<2x4x8x16xf32>, tensor<2x0x8x16xf32>, tensor<2x0x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
