// RUN: gpuopt-opt %s --split-input-file -train-plan-memory -convert-to-device | FileCheck %s

// Sums of columns: a block has a warp of 32 threads, each of which has the
// columns of its lanes, 4 in f32. So 1000 columns are 8 blocks of 128.

// CHECK-LABEL: device.kernel @fused_sum blocks 8 threads 32
// CHECK: arith.muli %{{.*}}, %c128 : index
train.step @wide forward ("x" %x: tensor<64x1000xf32>) {
  %0 = nn.fused "sum" %x : tensor<64x1000xf32> -> tensor<1x1000xf32> {
  ^bb0(%a: tensor<64x1000xf32>):
    %1 = nn.reduce sum %a [0] : tensor<64x1000xf32>
    nn.yield %1 : tensor<1x1000xf32>
  }
  train.output "y", %0 : tensor<1x1000xf32>
}

// -----

// With tensors in half precision lanes are 8: 4 blocks of 256.

// CHECK-LABEL: device.kernel @fused_sum blocks 4 threads 32
// CHECK: arith.muli %{{.*}}, %c256 : index
train.step @wide forward ("x" %x: tensor<64x1000xf16>) {
  %0 = nn.fused "sum" %x : tensor<64x1000xf16> -> tensor<1x1000xf32> {
  ^bb0(%a: tensor<64x1000xf16>):
    %1 = arith.extf %a : tensor<64x1000xf16> to tensor<64x1000xf32>
    %2 = nn.reduce sum %1 [0] : tensor<64x1000xf32>
    nn.yield %2 : tensor<1x1000xf32>
  }
  train.output "y", %0 : tensor<1x1000xf32>
}
