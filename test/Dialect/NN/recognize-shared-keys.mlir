// RUN: gpuopt-opt %s --nn-recognize-shared-keys --canonicalize | FileCheck %s
// RUN: gpuopt-opt %s --nn-recognize-shared-keys --remarks-filter=recognize-shared-keys --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// Each head of keys and values is repeated for a group of four.
// CHECK-LABEL: func.func @groups
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg2 scale 2.500000e-01 :
// REMARK: [Passed] {{.*}}"12 heads share 3 of keys and values"
func.func @groups(%q: tensor<2x12x8x16xf32>, %k: tensor<2x3x9x16xf32>, %v: tensor<2x3x9x16xf32>) -> tensor<2x12x8x16xf32> {
  %0 = nn.reshape %k : tensor<2x3x9x16xf32> to tensor<2x3x1x9x16xf32>
  %1 = nn.broadcast %0 : tensor<2x3x1x9x16xf32> to tensor<2x3x4x9x16xf32>
  %2 = nn.reshape %1 : tensor<2x3x4x9x16xf32> to tensor<2x12x9x16xf32>
  %3 = nn.reshape %v : tensor<2x3x9x16xf32> to tensor<2x3x1x9x16xf32>
  %4 = nn.broadcast %3 : tensor<2x3x1x9x16xf32> to tensor<2x3x4x9x16xf32>
  %5 = nn.reshape %4 : tensor<2x3x4x9x16xf32> to tensor<2x12x9x16xf32>
  %y:2 = nn.attention %q, %2, %5 scale 0.25 : tensor<2x12x8x16xf32>, tensor<2x12x9x16xf32>, tensor<2x12x9x16xf32>
  return %y#0 : tensor<2x12x8x16xf32>
}

// One head serves all.
// CHECK-LABEL: func.func @one_group
// CHECK-NEXT: nn.attention %arg0, %arg1, %arg1 scale 2.500000e-01 :
// REMARK: [Passed] {{.*}}"12 heads share 1 of keys and values"
func.func @one_group(%q: tensor<2x12x8x16xf32>, %k: tensor<2x1x9x16xf32>) -> tensor<2x12x8x16xf32> {
  %0 = nn.broadcast %k : tensor<2x1x9x16xf32> to tensor<2x12x9x16xf32>
  %y:2 = nn.attention %q, %0, %0 scale 0.25 : tensor<2x12x8x16xf32>, tensor<2x12x9x16xf32>, tensor<2x12x9x16xf32>
  return %y#0 : tensor<2x12x8x16xf32>
}

// Heads that repeat as a whole, [0, 1, 0, 1], are no groups, nor are rows.
// CHECK-LABEL: func.func @no_groups
// CHECK: nn.attention %arg0, %{{[0-9]+}}, %{{[0-9]+}} scale
// CHECK: nn.attention %arg0, %{{[0-9]+}}, %{{[0-9]+}} scale
func.func @no_groups(%q: tensor<4x8x16xf32>, %k: tensor<2x9x16xf32>, %row: tensor<4x1x16xf32>) -> (tensor<4x8x16xf32>, tensor<4x8x16xf32>) {
  %0 = nn.reshape %k : tensor<2x9x16xf32> to tensor<1x2x9x16xf32>
  %1 = nn.broadcast %0 : tensor<1x2x9x16xf32> to tensor<2x2x9x16xf32>
  %2 = nn.reshape %1 : tensor<2x2x9x16xf32> to tensor<4x9x16xf32>
  %y:2 = nn.attention %q, %2, %2 scale 0.25 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>
  %3 = nn.broadcast %row : tensor<4x1x16xf32> to tensor<4x9x16xf32>
  %z:2 = nn.attention %q, %3, %3 scale 0.25 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>
  return %y#0, %z#0 : tensor<4x8x16xf32>, tensor<4x8x16xf32>
}

// Heads that share keys may have a bias.
// CHECK-LABEL: func.func @biased
// CHECK: nn.attention %arg0, %arg1, %arg1 bias %arg2
func.func @biased(%q: tensor<4x8x16xf32>, %k: tensor<1x9x16xf32>, %b: tensor<8x9xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.broadcast %k : tensor<1x9x16xf32> to tensor<4x9x16xf32>
  %y:2 = nn.attention %q, %0, %0 bias %b : tensor<8x9xf32> scale 0.25 : tensor<4x8x16xf32>, tensor<4x9x16xf32>, tensor<4x9x16xf32>
  return %y#0 : tensor<4x8x16xf32>
}

// Without the repeats, there would be no call.
// CHECK-LABEL: func.func @windows
// CHECK: %[[K:.*]] = nn.broadcast
// CHECK: nn.attention %arg0, %[[K]], %[[K]] scale
// REMARK: [Missed] {{.*}}"keys stay repeated for each head: its heads share keys, and it has more than two batch dimensions"
func.func @windows(%q: tensor<2x3x4x8x16xf32>, %k: tensor<2x3x1x9x16xf32>) -> tensor<2x3x4x8x16xf32> {
  %0 = nn.broadcast %k : tensor<2x3x1x9x16xf32> to tensor<2x3x4x9x16xf32>
  %y:2 = nn.attention %q, %0, %0 scale 0.25 : tensor<2x3x4x8x16xf32>, tensor<2x3x4x9x16xf32>, tensor<2x3x4x9x16xf32>
  return %y#0 : tensor<2x3x4x8x16xf32>
}
