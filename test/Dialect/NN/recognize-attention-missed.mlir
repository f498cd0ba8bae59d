// RUN: gpuopt-opt %s --nn-recognize-attention --split-input-file --remarks-filter=recognize-attention \
// RUN:   --remark-format=emitRemark 2>&1 | FileCheck %s --implicit-check-not=nn.attention

// What stands between two products and is no attention, and why.

// CHECK: [Missed] {{.*}}"a reshape changes the rows or columns of the scores"
func.func @reshaped(%q: tensor<4x8x16xf32>, %v: tensor<4x64x16xf32>) -> tensor<4x1x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = nn.reshape %0 : tensor<4x8x8xf32> to tensor<4x1x64xf32>
  %2 = nn.softmax %1 dim 2 : tensor<4x1x64xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %v : tensor<4x1x64xf32>, tensor<4x64x16xf32>
  return %3 : tensor<4x1x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the scores are an operand of 'arith.mulf', whose other operand is no constant"
func.func @gated(%q: tensor<4x8x16xf32>, %gate: tensor<4x8x8xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.mulf %0, %gate : tensor<4x8x8xf32>
  %2 = nn.softmax %1 dim 2 : tensor<4x8x8xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %3 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"a mask replaces scores by something other than a constant"
func.func @selected(%q: tensor<4x8x16xf32>, %other: tensor<4x8x8xf32>, %m: tensor<4x8x8xi1>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.select %m, %0, %other : tensor<4x8x8xi1>, tensor<4x8x8xf32>
  %2 = nn.softmax %1 dim 2 : tensor<4x8x8xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %3 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"a bias and a mask are broadcast to different shapes"
func.func @two_shapes(%q: tensor<2x6x8x16xf32>, %b: tensor<2x1x8x8xf32>, %m: tensor<4x1x8x8xf32>) -> tensor<2x6x8x16xf32> {
  %0 = nn.contract "abxy,abzy->abxz" %q, %q : tensor<2x6x8x16xf32>, tensor<2x6x8x16xf32>
  %bias = nn.broadcast %b : tensor<2x1x8x8xf32> to tensor<2x6x8x8xf32>
  %1 = arith.addf %0, %bias : tensor<2x6x8x8xf32>
  %2 = nn.reshape %1 : tensor<2x6x8x8xf32> to tensor<4x3x8x8xf32>
  %3 = nn.broadcast %m : tensor<4x1x8x8xf32> to tensor<4x3x8x8xf32>
  %4 = arith.addf %2, %3 : tensor<4x3x8x8xf32>
  %5 = nn.reshape %4 : tensor<4x3x8x8xf32> to tensor<2x6x8x8xf32>
  %6 = nn.softmax %5 dim 3 : tensor<2x6x8x8xf32>
  %7 = nn.contract "abxy,abyz->abxz" %6, %q : tensor<2x6x8x8xf32>, tensor<2x6x8x16xf32>
  return %7 : tensor<2x6x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the scores go through 'math.tanh', which is no soft cap"
func.func @capped_twice(%q: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = math.tanh %0 : tensor<4x8x8xf32>
  %2 = math.tanh %1 : tensor<4x8x8xf32>
  %3 = nn.softmax %2 dim 2 : tensor<4x8x8xf32>
  %4 = nn.contract "axy,ayz->axz" %3, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %4 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the scores are masked or biased before their soft cap"
func.func @masked_then_capped(%q: tensor<4x8x16xf32>, %m: tensor<4x8x8xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.addf %0, %m : tensor<4x8x8xf32>
  %2 = math.tanh %1 : tensor<4x8x8xf32>
  %3 = nn.softmax %2 dim 2 : tensor<4x8x8xf32>
  %4 = nn.contract "axy,ayz->axz" %3, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %4 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"two masks are applied to scores of different shapes"
func.func @masks_of_two_shapes(%q: tensor<6x8x16xf32>, %a: tensor<6x8x8xi1>, %m: tensor<2x3x8x8xi1>) -> tensor<6x8x16xf32> {
  %hidden = arith.constant dense<0xFF800000> : tensor<6x8x8xf32>
  %hidden4 = arith.constant dense<0xFF800000> : tensor<2x3x8x8xf32>
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<6x8x16xf32>, tensor<6x8x16xf32>
  %1 = arith.select %a, %0, %hidden : tensor<6x8x8xi1>, tensor<6x8x8xf32>
  %2 = nn.reshape %1 : tensor<6x8x8xf32> to tensor<2x3x8x8xf32>
  %3 = arith.select %m, %2, %hidden4 : tensor<2x3x8x8xi1>, tensor<2x3x8x8xf32>
  %4 = nn.reshape %3 : tensor<2x3x8x8xf32> to tensor<6x8x8xf32>
  %5 = nn.softmax %4 dim 2 : tensor<6x8x8xf32>
  %6 = nn.contract "axy,ayz->axz" %5, %q : tensor<6x8x8xf32>, tensor<6x8x16xf32>
  return %6 : tensor<6x8x16xf32>
}

// -----

// A query that sees no key would have other gradients: the number of a mask
// that is not constant may hide all keys that the other one leaves, and so may
// a constant, as in the first row.
// CHECK-COUNT-2: [Missed] {{.*}}"two masks hide keys by different numbers"
func.func @masks_of_two_numbers(%q: tensor<2x16xf32>, %m: tensor<2x2xf32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %seen = arith.constant dense<[[true, false], [true, true]]> : tensor<2x2xi1>
  %later = arith.constant dense<[[-1.0e9, 0.0], [0.0, 0.0]]> : tensor<2x2xf32>
  %hidden = arith.constant dense<-1.0e9> : tensor<2x2xf32>
  %0 = nn.contract "xy,zy->xz" %q, %q : tensor<2x16xf32>, tensor<2x16xf32>
  %1 = arith.select %seen, %0, %hidden : tensor<2x2xi1>, tensor<2x2xf32>
  %2 = arith.addf %1, %m : tensor<2x2xf32>
  %3 = nn.softmax %2 dim 1 : tensor<2x2xf32>
  %4 = nn.contract "xy,yz->xz" %3, %q : tensor<2x2xf32>, tensor<2x16xf32>
  %5 = nn.contract "xy,zy->xz" %4, %q : tensor<2x16xf32>, tensor<2x16xf32>
  %6 = arith.select %seen, %5, %hidden : tensor<2x2xi1>, tensor<2x2xf32>
  %7 = arith.addf %6, %later : tensor<2x2xf32>
  %8 = nn.softmax %7 dim 1 : tensor<2x2xf32>
  %9 = nn.contract "xy,yz->xz" %8, %q : tensor<2x2xf32>, tensor<2x16xf32>
  return %4, %9 : tensor<2x16xf32>, tensor<2x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"a mask is a single number"
func.func @one_number(%q: tensor<4x8x16xf32>, %m: i1) -> tensor<4x8x16xf32> {
  %hidden = arith.constant dense<0xFF800000> : tensor<4x8x8xf32>
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = arith.select %m, %0, %hidden : tensor<4x8x8xf32>
  %2 = nn.softmax %1 dim 2 : tensor<4x8x8xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %q : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %3 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the product of queries and keys adds to a tensor or widens"
func.func @widened(%q: tensor<4x8x16xf16>, %v: tensor<4x8x16xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q to f32 : tensor<4x8x16xf16>, tensor<4x8x16xf16>
  %2 = nn.softmax %0 dim 2 : tensor<4x8x8xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %v : tensor<4x8x8xf32>, tensor<4x8x16xf32>
  return %3 : tensor<4x8x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the probabilities go through 'nn.reshape'"
func.func @probabilities(%q: tensor<4x8x16xf32>, %v: tensor<4x64x16xf32>) -> tensor<4x1x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = nn.softmax %0 dim 2 : tensor<4x8x8xf32>
  %2 = nn.reshape %1 : tensor<4x8x8xf32> to tensor<4x1x64xf32>
  %3 = nn.contract "axy,ayz->axz" %2, %v : tensor<4x1x64xf32>, tensor<4x64x16xf32>
  return %3 : tensor<4x1x16xf32>
}

// -----

// CHECK: [Missed] {{.*}}"the product 'axy,yz->axz' does not multiply probabilities by values of the same batch"
func.func @one_value(%q: tensor<4x8x16xf32>, %v: tensor<8x16xf32>) -> tensor<4x8x16xf32> {
  %0 = nn.contract "axy,azy->axz" %q, %q : tensor<4x8x16xf32>, tensor<4x8x16xf32>
  %1 = nn.softmax %0 dim 2 : tensor<4x8x8xf32>
  %2 = nn.contract "axy,yz->axz" %1, %v : tensor<4x8x8xf32>, tensor<8x16xf32>
  return %2 : tensor<4x8x16xf32>
}
