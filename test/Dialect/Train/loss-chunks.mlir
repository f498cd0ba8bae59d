// RUN: gpuopt-opt %s --train-build-step=loss-chunks=2 --canonicalize --cse | FileCheck %s
// RUN: gpuopt-opt %s --train-build-step --canonicalize --cse | FileCheck %s --check-prefix=WHOLE
// RUN: gpuopt-opt %s --train-build-step=loss-chunks=3 --canonicalize --cse | FileCheck %s --check-prefix=UNEVEN
// RUN: gpuopt-opt %s --train-build-step=loss-chunks=9 | grep -c "nn.cross_entropy %" | FileCheck %s --check-prefix=ROWS
// RUN: gpuopt-opt %S/Inputs/merged-rows.mlir --train-build-step=loss-chunks=3 --canonicalize --cse | FileCheck %s --check-prefix=MERGED
// RUN: gpuopt-opt %S/Inputs/one-row.mlir --train-build-step=loss-chunks=2 | FileCheck %s --check-prefix=ROW
// RUN: gpuopt-opt %S/Inputs/large-logits.mlir --train-build-step=loss-chunks=7 | FileCheck %s --check-prefix=SEVEN
// RUN: gpuopt-opt %S/Inputs/large-logits.mlir --train-build-step=loss-chunks=6 | FileCheck %s --check-prefix=SIX
// RUN: gpuopt-opt %S/Inputs/large-logits.mlir --train-build-step | grep -c "nn.cross_entropy %" | FileCheck %s --check-prefix=F32
// RUN: gpuopt-opt %S/Inputs/large-logits.mlir --train-build-step=half-logits=true | grep -c "nn.cross_entropy %" | FileCheck %s --check-prefix=HALF
// RUN: gpuopt-opt %S/Inputs/large-logits.mlir --train-build-step="half-logits=true loss-chunk-bytes=268435456" | grep -c "nn.cross_entropy %" | FileCheck %s --check-prefix=SMALL

// The product and the bias of the logits, and the cross entropy, each in two
// chunks of two rows; the whole logits never exist. The losses of all rows are
// added up at once, and the labels that count are counted once.

// CHECK-LABEL: train.step @micro_step
// CHECK-NOT: tensor<4x16xf32>
// CHECK: %[[X0:.*]] = nn.slice %[[X:.*]] [0, 0] [2, 8] [1, 1]
// CHECK: %[[P0:.*]] = nn.contract "ik,jk->ij" %[[X0]], %{{.*}} : tensor<2x8xf32>, tensor<16x8xf32>
// CHECK: %[[Z0:.*]] = arith.addf %[[P0]], %{{.*}} : tensor<2x16xf32>
// CHECK: %[[L0:[a-z0-9_]*]], %{{.*}} = nn.cross_entropy %[[Z0]]
// CHECK: %[[X1:.*]] = nn.slice %[[X]] [2, 0] [2, 8] [1, 1]
// CHECK: %[[P1:.*]] = nn.contract "ik,jk->ij" %[[X1]], %{{.*}}
// CHECK: %[[Z1:.*]] = arith.addf %[[P1]], %{{.*}} : tensor<2x16xf32>
// CHECK: %[[L1:[a-z0-9_]*]], %{{.*}} = nn.cross_entropy %[[Z1]]
// CHECK: %[[LOSSES:.*]] = nn.concat %[[L0]], %[[L1]] dim 0 : tensor<2x1xf32>, tensor<2x1xf32>
// CHECK: nn.reduce{{ +}}sum %[[LOSSES]] [0, 1] : tensor<4x1xf32>
// CHECK: nn.reduce{{ +}}sum %{{.*}} [0] : tensor<4xf32>
// CHECK: train.report_loss

// WHOLE-LABEL: train.step @micro_step
// WHOLE: nn.cross_entropy %{{.*}} : tensor<4x16xf32>
// WHOLE-NOT: nn.cross_entropy
// WHOLE-LABEL: train.step @evaluate

// Four rows in three chunks: the first has one more.
// UNEVEN-LABEL: train.step @micro_step
// UNEVEN: nn.slice %[[X:.*]] [0, 0] [2, 8] [1, 1]
// UNEVEN: nn.slice %[[X]] [2, 0] [1, 8] [1, 1]
// UNEVEN: nn.slice %[[X]] [3, 0] [1, 8] [1, 1]
// UNEVEN: nn.concat {{.*}} : tensor<2x1xf32>, tensor<1x1xf32>, tensor<1x1xf32>

// Of 4096 rows in 7 chunks, the one that is larger comes first; in 6, the two that
// are smaller. So most of the others are equal.
// SEVEN: nn.concat {{.*}} : tensor<586x1xf32>, tensor<585x1xf32>, tensor<585x1xf32>,
// SIX: nn.concat {{.*}} : tensor<682x1xf32>, tensor<682x1xf32>, tensor<683x1xf32>,

// No more chunks than there are rows, in both steps.
// ROWS: 8

// Logits of one row have nothing to cut.
// ROW: nn.cross_entropy %{{.*}} : tensor<1x16xf32>
// ROW-NOT: nn.slice

// Twelve rows that are four samples of three: a chunk is of whole samples, since
// the product has rows of samples.
// MERGED-LABEL: train.step @micro_step
// MERGED-NOT: tensor<4x3x16xf32>
// MERGED: nn.slice %[[X:.*]] [0, 0, 0] [2, 3, 8] [1, 1, 1]
// MERGED: nn.slice %[[X]] [2, 0, 0] [1, 3, 8] [1, 1, 1]
// MERGED: nn.slice %[[X]] [3, 0, 0] [1, 3, 8] [1, 1, 1]
// MERGED: nn.concat {{.*}} : tensor<6x1xf32>, tensor<3x1xf32>, tensor<3x1xf32>

// Logits of 2.44 GiB in f32 are two chunks of up to 1.25 GiB; in half precision
// they are one. Both steps have them.
// F32: 4
// HALF: 2

// 1.22 GiB in chunks of up to 256 MiB are five.
// SMALL: 10

train.variable @w parameter : tensor<16x8xf32>
train.variable @b parameter : tensor<16xf32>
func.func @forward(%x: tensor<4x8xf32> {nn.name = "x"}) -> (tensor<4x16xf32> {nn.name = "logits"}) {
  %w = train.read @w : tensor<16x8xf32>
  %b = train.read @b : tensor<16xf32>
  %h = math.tanh %x : tensor<4x8xf32>
  %p = nn.contract "ik,jk->ij" %h, %w : tensor<4x8xf32>, tensor<16x8xf32>
  %bias = nn.broadcast %b : tensor<16xf32> to tensor<4x16xf32>
  %z = arith.addf %p, %bias : tensor<4x16xf32>
  return %z : tensor<4x16xf32>
}
