// RUN: gpuopt-opt %s --print-launch-shapes --verify-diagnostics
// RUN: not gpuopt-opt %s --print-launch-shapes=device=tpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: expects one of host, {{.*}} or a JSON file, but got 'tpu'

// test/Conversion/ToDevice/launch-shape.mlir has the numbers of other devices.
train.step @forward_step forward ("x" %x: tensor<1024x128xf32>, "y" %y: tensor<128x1024xf32>) {
  // 131072 elements, by the 64 blocks that the host wants: 2048 of them are 512
  // threads of 4, and a block has at most 256.
  // expected-remark @below {{flat, loops 131072: 64 blocks of 256 threads, each with 2048}}
  %0 = nn.fused "tanh" %x : tensor<1024x128xf32> -> tensor<1024x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = math.tanh %a : tensor<1024x128xf32>
    nn.yield %1 : tensor<1024x128xf32>
  }
  %t = nn.transpose %y [1, 0] : tensor<128x1024xf32>
  // 32 rows have 4096 elements, but a block gets only 1024 / 64 = 16 of them.
  // expected-remark @below {{rows, loops 1024 x 128: 64 blocks of 32 threads, each with 16}}
  %2 = nn.fused "exp" %t : tensor<1024x128xf32> -> tensor<1024x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = math.exp %a : tensor<1024x128xf32>
    nn.yield %1 : tensor<1024x128xf32>
  }
  // expected-remark @below {{row reduction, loops 1024 x 128 (reduced): 1024 blocks of 32 threads, each with 1}}
  %3 = nn.fused "rows" %x : tensor<1024x128xf32> -> tensor<1024x1xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = nn.reduce sum %a [1] : tensor<1024x128xf32>
    nn.yield %1 : tensor<1024x1xf32>
  }
  // A thread sums 4 columns, so one warp has all 128.
  // expected-remark @below {{column reduction, loops 1024 (reduced) x 128: 1 blocks of 32 threads, each with 128}}
  %4 = nn.fused "columns" %x : tensor<1024x128xf32> -> tensor<1x128xf32> {
  ^bb0(%a: tensor<1024x128xf32>):
    %1 = nn.reduce sum %a [0] : tensor<1024x128xf32>
    nn.yield %1 : tensor<1x128xf32>
  }
  train.output "a", %0 : tensor<1024x128xf32>
  train.output "b", %2 : tensor<1024x128xf32>
  train.output "c", %3 : tensor<1024x1xf32>
  train.output "d", %4 : tensor<1x128xf32>
}
