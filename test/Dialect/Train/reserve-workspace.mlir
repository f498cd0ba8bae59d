// RUN: gpuopt-opt %s --split-input-file --train-reserve-workspace | FileCheck %s
// RUN: gpuopt-opt %s --split-input-file --train-reserve-workspace=workspace-bytes=16384 | FileCheck %s --check-prefix=GIVEN
// RUN: not gpuopt-opt %s --split-input-file --train-reserve-workspace=workspace-bytes=4096 2>&1 | FileCheck %s --check-prefix=SMALL

// The gradient of an embedding has one way to be computed.
// SMALL: error: 'nn.scatter_add' op needs a workspace of at least 9216 B, but it is 4096 B

// Two loaders with two batches each, of 512 + 256 bytes; a product.

// CHECK-DAG: train.variable @library_workspace workspace : tensor<33554432xi8>
// CHECK-DAG: train.variable @staged_batches staging : tensor<3072xi8>
// GIVEN-DAG: train.variable @library_workspace workspace : tensor<16384xi8>
// GIVEN-DAG: train.variable @staged_batches staging : tensor<3072xi8>
train.variable @w parameter : tensor<16x16xf32>
train.step @micro_step micro ("x" %x: tensor<8x16xf32>, "labels" %labels: tensor<8xi64>) {
  %w = train.read @w : tensor<16x16xf32>
  %y = nn.contract "ik,kj->ij" %x, %w : tensor<8x16xf32>, tensor<16x16xf32>
  train.output "y", %y : tensor<8x16xf32>
}

// -----

// Nothing but kernels of our own: no library needs memory. A parameter may have
// the name.

// CHECK: train.variable @staged_batches_{{[0-9]+}} staging : tensor<2048xi8>
// CHECK-NOT: workspace
train.variable @staged_batches parameter : tensor<16xf32>
train.step @micro_step micro ("x" %x: tensor<8x16xf32>) {
  %y = math.tanh %x : tensor<8x16xf32>
  train.output "y", %y : tensor<8x16xf32>
}

// -----

// A table of 1000 rows, 64 indices: 1024 + 1024 + 2 x 64 numbers of 4 bytes, and
// twice 256 bytes for rows that occur often, of which there can be none.

// CHECK: train.variable @library_workspace workspace : tensor<9216xi8>
train.step @micro_step micro ("dy" %dy: tensor<64x16xf32>, "ids" %ids: tensor<64xi64>) {
  %y = nn.scatter_add %dy, %ids rows 1000 : tensor<64x16xf32>, tensor<64xi64>
  train.output "y", %y : tensor<1000x16xf32>
}

// -----

// Four times the largest tensor (25690112), and the filters in cuDNN's order.

// CHECK: train.variable @library_workspace workspace : tensor<25837568xi8>
train.variable @w parameter : tensor<64x64x3x3xf32>
train.step @micro_step micro ("x" %x: tensor<8x56x56x64xf32>) {
  %w = train.read @w : tensor<64x64x3x3xf32>
  %y = nn.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 1
    : tensor<8x56x56x64xf32>, tensor<64x64x3x3xf32>
  train.output "y", %y : tensor<8x56x56x64xf32>
}
