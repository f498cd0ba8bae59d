// RUN: gpuopt-opt %s --nn-recognize-bands | FileCheck %s
// RUN: gpuopt-opt %s --nn-recognize-bands --remarks-filter=recognize-bands --remark-format=emitRemark -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK

// REMARK: "the mask is a band: query i sees the keys i + -3 to i + 0"
// REMARK: "the mask hides no key"

// Query i sees the keys up to i.
// CHECK-LABEL: func.func @causal
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 band [-3, 0] {zeroes_empty} :
func.func @causal(%q: tensor<2x3x16xf32>) -> tensor<2x3x16xf32> {
  %mask = arith.constant dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>
  %0:2 = nn.attention %q, %q, %q mask %mask scale 0.25 {zeroes_empty}
      : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<1x3x3xi1>
  return %0#0 : tensor<2x3x16xf32>
}

// A sliding window of two keys, said by what is hidden, for each sample of the batch.
// CHECK-LABEL: func.func @window
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 band [-1, 0] :
func.func @window(%q: tensor<2x4x16xf32>) -> tensor<2x4x16xf32> {
  %hidden = arith.constant dense<[[[false, true, true, true], [false, false, true, true], [true, false, false, true], [true, true, false, false]],
                                  [[false, true, true, true], [false, false, true, true], [true, false, false, true], [true, true, false, false]]]> : tensor<2x4x4xi1>
  %true = arith.constant dense<true> : tensor<2x4x4xi1>
  %mask = arith.xori %hidden, %true : tensor<2x4x4xi1>
  %0:2 = nn.attention %q, %q, %q mask %mask scale 0.25 {masked_value = -1.0e38 : f64}
      : tensor<2x4x16xf32>, tensor<2x4x16xf32>, tensor<2x4x16xf32>, tensor<2x4x4xi1>
  return %0#0 : tensor<2x4x16xf32>
}

// Numbers that are added: 0 where a key is seen. There are more keys than queries.
// CHECK-LABEL: func.func @added
// CHECK: nn.attention %{{.*}} scale 2.500000e-01 band [-1, 1] :
func.func @added(%q: tensor<3x16xf32>, %k: tensor<4x16xf32>) -> tensor<3x16xf32> {
  %mask = arith.constant dense<[[0.0, 0.0, -1.0e9, 0xFF800000], [-0.0, 0.0, 0.0, -1.0e9], [-1.0e9, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
  %0:2 = nn.attention %q, %k, %k mask %mask scale 0.25 : tensor<3x16xf32>, tensor<4x16xf32>, tensor<4x16xf32>, tensor<3x4xf32>
  return %0#0 : tensor<3x16xf32>
}

// A mask that hides no key is removed.
// CHECK-LABEL: func.func @all_seen
// CHECK: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 :
func.func @all_seen(%q: tensor<3x16xf32>) -> tensor<3x16xf32> {
  %mask = arith.constant dense<true> : tensor<3x3xi1>
  %0:2 = nn.attention %q, %q, %q mask %mask scale 0.25 : tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x16xf32>, tensor<3x3xi1>
  return %0#0 : tensor<3x16xf32>
}

// These stay masks: a hole, a query without keys, keys that are hidden by -10
// or by -1e4, samples that differ, a mask that is computed.
// CHECK-LABEL: func.func @no_bands
// CHECK-COUNT-6: nn.attention %{{.*}} mask %{{.*}} scale
func.func @no_bands(%q: tensor<2x3x16xf32>, %computed: tensor<3x3xi1>) {
  %hole = arith.constant dense<[[true, false, true], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %empty = arith.constant dense<[[false, false, false], [true, false, false], [true, true, false]]> : tensor<3x3xi1>
  %weak = arith.constant dense<[[0.0, -10.0, -10.0], [0.0, 0.0, -10.0], [0.0, 0.0, 0.0]]> : tensor<3x3xf32>
  %causal = arith.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
  %differ = arith.constant dense<[[[true, false, false]], [[true, true, true]]]> : tensor<2x1x3xi1>
  %0:2 = nn.attention %q, %q, %q mask %hole scale 0.25 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xi1>
  %1:2 = nn.attention %q, %q, %q mask %empty scale 0.25 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xi1>
  %2:2 = nn.attention %q, %q, %q mask %weak scale 0.25 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xf32>
  %3:2 = nn.attention %q, %q, %q mask %causal scale 0.25 {masked_value = -1.0e4 : f64}
      : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xi1>
  %4:2 = nn.attention %q, %q, %q mask %differ scale 0.25 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x1x3xi1>
  %5:2 = nn.attention %q, %q, %q mask %computed scale 0.25 : tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<2x3x16xf32>, tensor<3x3xi1>
  return
}

// There are more queries than keys.
// CHECK-LABEL: func.func @long
// CHECK: nn.attention %{{.*}} band [-4, 0] :
func.func @long(%q: tensor<4x16xf32>, %k: tensor<2x16xf32>) -> tensor<4x16xf32> {
  %mask = arith.constant dense<[[true, false], [true, true], [true, true], [true, true]]> : tensor<4x2xi1>
  %0:2 = nn.attention %q, %k, %k mask %mask scale 0.25 : tensor<4x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<4x2xi1>
  return %0#0 : tensor<4x16xf32>
}

// Masks of few elements, for more scores than there is memory. All keys are
// seen, or the last one is hidden, which is no band, or each query sees all.
// CHECK-LABEL: func.func @very_long
// CHECK: nn.attention %arg0, %arg0, %arg0 scale 2.500000e-01 :
// CHECK: nn.attention %arg0, %arg1, %arg1 mask %{{.*}} scale 2.500000e-01 :
// CHECK: nn.attention %arg0, %arg0, %arg0 scale 2.500000e-01 :
func.func @very_long(%q: tensor<1000000x16xf32>, %k: tensor<2x16xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<1000000x1000000xf32>
  %0:2 = nn.attention %q, %q, %q mask %zeros scale 0.25 : tensor<1000000x16xf32>, tensor<1000000x16xf32>, tensor<1000000x16xf32>, tensor<1000000x1000000xf32>
  %last = arith.constant dense<[[true, false]]> : tensor<1x2xi1>
  %1:2 = nn.attention %q, %k, %k mask %last scale 0.25 : tensor<1000000x16xf32>, tensor<2x16xf32>, tensor<2x16xf32>, tensor<1x2xi1>
  %each = arith.constant dense<true> : tensor<1000000x1xi1>
  %2:2 = nn.attention %q, %q, %q mask %each scale 0.25 : tensor<1000000x16xf32>, tensor<1000000x16xf32>, tensor<1000000x16xf32>, tensor<1000000x1xi1>
  return
}
