// RUN: gpuopt-opt %s --train-plan-memory --convert-to-device=device=h200 --split-input-file --verify-diagnostics -o /dev/null
// RUN: not gpuopt-opt %s --train-plan-memory --convert-to-device --split-input-file 2>&1 | FileCheck %s

// A core of a processor has no groups of threads whose sums could be combined.
// CHECK: error: 'nn.fused' op has an 'nn.partial_sum', which kernels for 'host' cannot have; run kernels-merge-column-sums for this device
train.step @short forward ("x" %x: tensor<4x16x64xf32>) {
  %0:2 = nn.fused "sum" %x : tensor<4x16x64xf32> -> tensor<4x16x1xf32>, tensor<4x1x64xf32> {
  ^bb0(%a: tensor<4x16x64xf32>):
    %1 = nn.reduce sum %a [2] : tensor<4x16x64xf32>
    %2 = nn.partial_sum %a parts 4 : tensor<4x16x64xf32>
    nn.yield %1, %2 : tensor<4x16x1xf32>, tensor<4x1x64xf32>
  }
  train.output "y", %0#0 : tensor<4x16x1xf32>
  train.output "z", %0#1 : tensor<4x1x64xf32>
}

// -----

// More than a warp can hold.
train.step @long forward ("x" %x: tensor<4x16x1025xf32>) {
  // expected-error @below {{'nn.fused' op expects an 'nn.partial_sum' of rows of up to 1024 elements, but got 1025}}
  %0:2 = nn.fused "sum" %x : tensor<4x16x1025xf32> -> tensor<4x16x1xf32>, tensor<4x1x1025xf32> {
  ^bb0(%a: tensor<4x16x1025xf32>):
    %1 = nn.reduce sum %a [2] : tensor<4x16x1025xf32>
    %2 = nn.partial_sum %a parts 4 : tensor<4x16x1025xf32>
    nn.yield %1, %2 : tensor<4x16x1xf32>, tensor<4x1x1025xf32>
  }
  train.output "y", %0#0 : tensor<4x16x1xf32>
  train.output "z", %0#1 : tensor<4x1x1025xf32>
}
