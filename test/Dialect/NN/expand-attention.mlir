// RUN: gpuopt-opt %s --nn-expand-attention=all | FileCheck %s
// RUN: gpuopt-opt %s --nn-expand-attention=all --nn-recognize-attention --canonicalize | FileCheck %s --check-prefix=BACK

// CHECK-LABEL: func.func @scores_scaled
// CHECK-SAME: (%[[Q:.*]]: tensor<2x4x8x16xf32>, %[[K:.*]]: tensor<2x4x9x16xf32>, %[[V:.*]]: tensor<2x4x9x5xf32>, %[[M:.*]]: tensor<8x9xf32>)
// CHECK: %[[S:.*]] = nn.contract "abxy,abzy->abxz" %[[Q]], %[[K]]
// CHECK: %[[C:.*]] = arith.constant dense<2.500000e-01>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[S]], %[[C]]
// CHECK: %[[B:.*]] = nn.broadcast %[[M]] : tensor<8x9xf32> to tensor<2x4x8x9xf32>
// CHECK: %[[MASKED:.*]] = arith.addf %[[SCALED]], %[[B]]
// CHECK: %[[P:.*]] = nn.softmax %[[MASKED]] dim 3 {zeroes_empty}
// CHECK: %[[D:.*]] = nn.dropout %[[P]] ratio 1.000000e-01 stream 3
// CHECK: %[[Y:.*]] = nn.contract "abxy,abyz->abxz" %[[D]], %[[V]]
// CHECK: return %[[Y]]
// BACK-LABEL: func.func @scores_scaled
// BACK-NEXT: nn.attention %arg0, %arg1, %arg2 mask %arg3 scale 2.500000e-01 dropout 1.000000e-01 stream 3 {zeroes_empty}
func.func @scores_scaled(%q: tensor<2x4x8x16xf32>, %k: tensor<2x4x9x16xf32>, %v: tensor<2x4x9x5xf32>, %m: tensor<8x9xf32>) -> tensor<2x4x8x5xf32> {
  %0:2 = nn.attention %q, %k, %v mask %m scale 0.25 dropout 0.1 stream 3 {zeroes_empty}
      : tensor<2x4x8x16xf32>, tensor<2x4x9x16xf32>, tensor<2x4x9x5xf32>, tensor<8x9xf32>
  return %0#0 : tensor<2x4x8x5xf32>
}

// The scale stands above the layout changes, in the kernel that makes the query.
// CHECK-LABEL: func.func @operands_scaled
// CHECK-SAME: (%[[X:.*]]: tensor<8x2x16xf32>, %[[K:.*]]: tensor<2x9x16xf32>, %[[M:.*]]: tensor<8x9xi1>)
// CHECK: %[[XS:.*]] = arith.mulf %[[X]]
// CHECK: %[[QS:.*]] = nn.transpose %[[XS]] [1, 0, 2]
// CHECK: %[[C:.*]] = arith.constant dense<5.000000e-01> : tensor<2x9x16xf32>
// CHECK: %[[KS:.*]] = arith.mulf %[[K]], %[[C]]
// CHECK: %[[S:.*]] = nn.contract "axy,azy->axz" %[[QS]], %[[KS]]
// CHECK: %[[HIDDEN:.*]] = arith.constant dense<0xFF800000>
// CHECK: arith.select %{{.*}}, %[[S]], %[[HIDDEN]]
// CHECK-NOT: arith.mulf
// BACK-LABEL: func.func @operands_scaled
// BACK-NEXT: %[[Q:.*]] = nn.transpose %arg0
// BACK-NEXT: nn.attention %[[Q]], %arg1, %arg1 mask %arg2 scale 2.500000e-01 of both
func.func @operands_scaled(%x: tensor<8x2x16xf32>, %k: tensor<2x9x16xf32>, %m: tensor<8x9xi1>) -> tensor<2x8x16xf32> {
  %q = nn.transpose %x [1, 0, 2] : tensor<8x2x16xf32>
  %0:2 = nn.attention %q, %k, %k mask %m scale 0.25 of both
      : tensor<2x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<8x9xi1>
  return %0#0 : tensor<2x8x16xf32>
}

// CHECK-LABEL: func.func @query_scaled
// CHECK-COUNT-1: arith.mulf
// CHECK: nn.contract
// CHECK-NOT: arith.mulf
// CHECK: arith.constant dense<-1.000000e+04> : tensor<8x9xf32>
func.func @query_scaled(%q: tensor<8x16xf32>, %k: tensor<9x16xf32>, %m: tensor<9xi1>) -> tensor<8x16xf32> {
  %0:2 = nn.attention %q, %k, %k mask %m scale 0.25 of query {masked_value = -1.0e4 : f64}
      : tensor<8x16xf32>, tensor<9x16xf32>, tensor<9x16xf32>, tensor<9xi1>
  return %0#0 : tensor<8x16xf32>
}

// Heads that share keys get a copy each.
// CHECK-LABEL: func.func @grouped
// CHECK: %[[K3:.*]] = nn.reshape %arg1 : tensor<2x9x16xf32> to tensor<2x1x9x16xf32>
// CHECK: %[[K:.*]] = nn.broadcast %[[K3]] : tensor<2x1x9x16xf32> to tensor<2x3x9x16xf32>
// CHECK: %[[KEYS:.*]] = nn.reshape %[[K]] : tensor<2x3x9x16xf32> to tensor<6x9x16xf32>
// CHECK: nn.contract "axy,azy->axz" %arg0, %[[KEYS]]
func.func @grouped(%q: tensor<6x8x16xf32>, %k: tensor<2x9x16xf32>) -> tensor<6x8x16xf32> {
  %0:2 = nn.attention %q, %k, %k scale 1.0 : tensor<6x8x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>
  return %0#0 : tensor<6x8x16xf32>
}

// A bias is added before the mask.
// CHECK-LABEL: func.func @biased
// CHECK: %[[S:.*]] = nn.contract "xy,zy->xz"
// CHECK: %[[B:.*]] = arith.addf %[[S]], %arg1
// CHECK: arith.select %arg2, %[[B]], %{{.*}}
// BACK-LABEL: func.func @biased
// BACK-NEXT: nn.attention %arg0, %arg0, %arg0 mask %arg2 bias %arg1 : tensor<3x3xf32> scale 1.000000e+00 :
func.func @biased(%q: tensor<3x16xf32>, %b: tensor<3x3xf32>, %m: tensor<3x3xi1>) -> tensor<3x16xf32> {
  %0:2 = nn.attention %q, %q, %q mask %m bias %b : tensor<3x3xf32> scale 1.0 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xi1>
  return %0#0 : tensor<3x16xf32>
}

// CHECK-LABEL: func.func @banded
// CHECK: %[[S:.*]] = nn.contract "xy,zy->xz"
// CHECK: %[[SEEN:.*]] = arith.constant dense<{{\[\[}}true, false, false], [true, true, false], [false, true, true]]> : tensor<3x3xi1>
// CHECK: arith.select %[[SEEN]], %[[S]], %{{.*}}
func.func @banded(%q: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %0:2 = nn.attention %q, %q, %q scale 1.0 band [-1, 0] : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>
  return %0#0 : tensor<3x16xf32>
}

// The cap comes before the bias and the mask.
// CHECK-LABEL: func.func @capped
// CHECK: %[[S:.*]] = nn.contract "axy,azy->axz" %arg0, %arg0
// CHECK: %[[SCALED:.*]] = arith.mulf %[[S]], %{{.*}} : tensor<2x8x8xf32>
// CHECK: arith.constant dense<2.000000e-02>
// CHECK: %[[IN:.*]] = arith.mulf %[[SCALED]]
// CHECK: %[[T:.*]] = math.tanh %[[IN]]
// CHECK: arith.constant dense<5.000000e+01>
// CHECK: %[[CAPPED:.*]] = arith.mulf %[[T]]
// CHECK: %[[BIASED:.*]] = arith.addf %[[CAPPED]]
// CHECK: arith.addf %[[BIASED]]
// CHECK: nn.softmax
// BACK-LABEL: func.func @capped
// BACK: nn.attention %arg0, %arg0, %arg0 mask %arg2 bias %arg1 : tensor<8x8xf32> scale 2.500000e-01 softcap 5.000000e+01 :
func.func @capped(%q: tensor<2x8x16xf32>, %b: tensor<8x8xf32>, %m: tensor<2x1x8xf32>) -> tensor<2x8x16xf32> {
  %0:2 = nn.attention %q, %q, %q mask %m bias %b : tensor<8x8xf32> scale 0.25 softcap 50.0
      : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x1x8xf32>
  return %0#0 : tensor<2x8x16xf32>
}
