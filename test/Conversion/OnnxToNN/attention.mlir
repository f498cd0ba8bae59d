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

// The sizes of a window are a band; is_causal takes away what comes later.
// CHECK-LABEL: func.func @forward
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 band [-2, 1] :
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 band [-2, 0] :
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 band [-8, 3] :
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 :
onnx.graph @windows(%q: tensor<2x4x8x16xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown) attributes {inputNames = ["q"], opsets = {ai.onnx = 25 : i64}, outputNames = ["a", "b", "c", "d"]} {
  %a = onnx.node "Attention"(%q, %q, %q) {left_window_size = 2 : i64, right_window_size = 1 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  %b = onnx.node "Attention"(%q, %q, %q) {left_window_size = 2 : i64, right_window_size = 1 : i64, is_causal = 1 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  %c = onnx.node "Attention"(%q, %q, %q) {right_window_size = 3 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  %d = onnx.node "Attention"(%q, %q, %q) {left_window_size = 8 : i64, right_window_size = 8 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  onnx.return %a, %b, %c, %d : !onnx.unknown, !onnx.unknown, !onnx.unknown, !onnx.unknown
}

// -----

// No size is so large that the last key's number overflows. Beside lengths of
// sequences, sizes end where the keys do.
// CHECK-LABEL: func.func @forward
// CHECK: nn.attention %{{.*}} band [-1, 16] :
// CHECK: arith.constant dense<16> : tensor<2x1x8x8xi64>
onnx.graph @huge_windows(%q: tensor<2x4x8x16xf32>, %past: tensor<2x4x4x16xf32>, %lengths: tensor<2xi64>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["q", "past", "lengths"], opsets = {ai.onnx = 25 : i64}, outputNames = ["a", "b"]} {
  %none = onnx.none : none
  %a, %k, %v = onnx.node "Attention"(%q, %q, %q, %none, %past, %past) {left_window_size = 5 : i64, right_window_size = 9223372036854775807 : i64} as ["a", "k", "v"] : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, none, tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) -> (!onnx.unknown, !onnx.unknown, !onnx.unknown)
  %b = onnx.node "Attention"(%q, %q, %q, %none, %none, %none, %lengths) {right_window_size = 9223372036854775807 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, none, none, none, tensor<2xi64>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}

// -----

// Where a query sees no key, the window is a mask: query 6 of 8 would see the
// keys from 4 on, but there are only 4. Beside another mask it is one, too. A
// mask may hide all keys of a query: its result is 0.
// CHECK-LABEL: func.func @forward
// CHECK: %[[SEEN:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<8x4xi1>
// CHECK: nn.attention %{{.*}} mask %[[SEEN]] scale 2.500000e-01 {zeroes_empty} :
// CHECK: %[[WINDOW:.*]] = arith.andi %{{.*}}, %{{.*}} : tensor<8x8xi1>
// CHECK: %[[BOTH:.*]] = arith.andi %arg2, %[[WINDOW]] : tensor<8x8xi1>
// CHECK: nn.attention %{{.*}} mask %[[BOTH]] scale 2.500000e-01 {zeroes_empty} :
onnx.graph @masks(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x4x16xf32>, %m: tensor<8x8xi1>) -> (!onnx.unknown, !onnx.unknown) attributes {inputNames = ["q", "k", "m"], opsets = {ai.onnx = 25 : i64}, outputNames = ["a", "b"]} {
  %a = onnx.node "Attention"(%q, %k, %k) {left_window_size = 2 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x4x16xf32>, tensor<2x4x4x16xf32>) -> !onnx.unknown
  %b = onnx.node "Attention"(%q, %q, %q, %m) {left_window_size = 2 : i64} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xi1>) -> !onnx.unknown
  onnx.return %a, %b : !onnx.unknown, !onnx.unknown
}

// -----

// expected-error @below {{attribute softcap must be 0 or more, but is -2.000000}}
onnx.graph @softcap(%q: tensor<2x4x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %q, %q) {softcap = -2.0 : f32} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// expected-error @below {{operand 0 must have rank 4, or rank 3 and heads (attribute q_num_heads) that divide its last dimension}}
onnx.graph @heads(%q: tensor<2x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %q, %q) {q_num_heads = 3 : i64, kv_num_heads = 3 : i64} : (tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// expected-error @below {{query, key and value have the shapes [2, 4, 8, 16] and [2, 0, 8, 16] and [2, 0, 8, 16] ([batch, heads, positions, size of a head]), which do not agree}}
onnx.graph @none(%q: tensor<2x4x8x16xf32>, %k: tensor<2x0x8x16xf32>) -> !onnx.unknown attributes {inputNames = ["q", "k"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %k, %k) : (tensor<2x4x8x16xf32>, tensor<2x0x8x16xf32>, tensor<2x0x8x16xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}

// -----

// CHECK-LABEL: func.func @forward
// CHECK: nn.attention %{{.*}} mask %{{.*}} scale 2.500000e-01 softcap 3.000000e+01 {zeroes_empty} : {{.*}}
onnx.graph @capped(%q: tensor<2x4x8x16xf32>, %m: tensor<8x8xf32>) -> !onnx.unknown attributes {inputNames = ["q", "m"], opsets = {ai.onnx = 23 : i64}, outputNames = ["y"]} {
  %y = onnx.node "Attention"(%q, %q, %q, %m) {softcap = 30.0 : f32} : (tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<2x4x8x16xf32>, tensor<8x8xf32>) -> !onnx.unknown
  onnx.return %y : !onnx.unknown
}
