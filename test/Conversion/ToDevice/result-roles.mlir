// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s

// All that a normalisation computes comes from one node. Its parts are called
// by what they are, where they are written and where they are read. Other
// square roots are no deviations.

// CHECK: device.buffer @n_total {{.*}} role = "total"
// CHECK: device.buffer @n_rstd {{.*}} role = "rstd"
// CHECK-LABEL: device.kernel @fused_norm
// CHECK-SAME: ["input", "total", "squared_deviations", "rstd", "normalised", "largest"]
// CHECK-LABEL: device.kernel @fused_softmax
// CHECK-SAME: ["input", "probabilities"]
// CHECK-LABEL: device.kernel @fused_mean
// CHECK-SAME: ["total", "mean"]
// CHECK-LABEL: device.kernel @fused_read
// CHECK-SAME: ["mean", "rstd", "smallest"]
// CHECK-LABEL: device.kernel @fused_root
// CHECK-SAME: ["rstd", "root"]
train.step @forward_step micro ("Input" %in: tensor<8x16xf32>) {
  %0:5 = nn.fused "norm" %in {nn.origins = #nn.origins<"n", "n", "n", "n", "n">} : tensor<8x16xf32> -> tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x16xf32>, tensor<8x1xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %part = arith.constant dense<0.0625> : tensor<8x1xf32>
    %sum = nn.reduce sum %a [1] : tensor<8x16xf32>
    %mean = arith.mulf %sum, %part : tensor<8x1xf32>
    %wide = nn.broadcast %mean : tensor<8x1xf32> to tensor<8x16xf32>
    %deviation = arith.subf %a, %wide : tensor<8x16xf32>
    %square = arith.mulf %deviation, %deviation : tensor<8x16xf32>
    %squares = nn.reduce sum %square [1] : tensor<8x16xf32>
    %epsilon = arith.constant dense<1.0e-05> : tensor<8x1xf32>
    %stabilised = arith.addf %squares, %epsilon : tensor<8x1xf32>
    %rstd = math.rsqrt %stabilised : tensor<8x1xf32>
    %factor = nn.broadcast %rstd : tensor<8x1xf32> to tensor<8x16xf32>
    %normal = arith.mulf %deviation, %factor : tensor<8x16xf32>
    %max = nn.reduce max %a [1] : tensor<8x16xf32>
    nn.yield %sum, %squares, %rstd, %normal, %max : tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x1xf32>, tensor<8x16xf32>, tensor<8x1xf32>
  }
  %1 = nn.fused "softmax" %in {nn.origins = #nn.origins<"s">} : tensor<8x16xf32> -> tensor<8x16xf32> {
  ^bb0(%a: tensor<8x16xf32>):
    %e = math.exp %a : tensor<8x16xf32>
    %sum = nn.reduce sum %e [1] : tensor<8x16xf32>
    %wide = nn.broadcast %sum : tensor<8x1xf32> to tensor<8x16xf32>
    %y = arith.divf %e, %wide : tensor<8x16xf32>
    nn.yield %y : tensor<8x16xf32>
  }
  %2 = nn.fused "mean" %0#0 {nn.origins = #nn.origins<"m">} : tensor<8x1xf32> -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x1xf32>):
    %part = arith.constant dense<0.0625> : tensor<8x1xf32>
    %y = arith.mulf %a, %part : tensor<8x1xf32>
    nn.yield %y : tensor<8x1xf32>
  }
  %3 = nn.fused "read" %2, %0#2 {nn.origins = #nn.origins<"r">} : tensor<8x1xf32>, tensor<8x1xf32> -> tensor<1x1xf32> {
  ^bb0(%a: tensor<8x1xf32>, %b: tensor<8x1xf32>):
    %y = arith.addf %a, %b : tensor<8x1xf32>
    %min = nn.reduce min %y [0] : tensor<8x1xf32>
    nn.yield %min : tensor<1x1xf32>
  }
  %4 = nn.fused "root" %0#2 {nn.origins = #nn.origins<"node/root_1">} : tensor<8x1xf32> -> tensor<8x1xf32> {
  ^bb0(%a: tensor<8x1xf32>):
    %root = math.rsqrt %a : tensor<8x1xf32>
    nn.yield %root : tensor<8x1xf32>
  }
  train.output "f", %4 : tensor<8x1xf32>
  train.output "a", %0#1 : tensor<8x1xf32>
  train.output "b", %0#3 : tensor<8x16xf32>
  train.output "c", %0#4 : tensor<8x1xf32>
  train.output "d", %1 : tensor<8x16xf32>
  train.output "e", %3 : tensor<1x1xf32>
}
