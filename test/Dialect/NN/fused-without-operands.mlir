// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s

// A kernel that reads nothing prints as it parses.

// CHECK: nn.fused "iota" -> tensor<4xi64> {
train.step @forward forward ("x" %x: tensor<4xf32>) {
  %0 = nn.fused "iota" -> tensor<4xi64> {
    %1 = nn.iota dim 0 : tensor<4xi64>
    nn.yield %1 : tensor<4xi64>
  }
  train.output "y", %0 : tensor<4xi64>
}
