// RUN: gpuopt-opt %s --nn-expand-attention=all --split-input-file --verify-diagnostics

func.func @ordered(%q: tensor<2x8x16xf32>) -> tensor<8x2x16xf32> {
  // expected-error @below {{cannot be expanded: expects no order of dimensions and no reader of the statistics}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 order [1, 0, 2] : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return %0#0 : tensor<8x2x16xf32>
}

// -----

func.func @statistics_read(%q: tensor<2x8x16xf32>) -> tensor<2x2x8xf32> {
  // expected-error @below {{cannot be expanded}}
  %0:2 = nn.attention %q, %q, %q scale 1.0 : tensor<2x8x16xf32>, tensor<2x8x16xf32>, tensor<2x8x16xf32>
  return %0#1 : tensor<2x2x8xf32>
}
