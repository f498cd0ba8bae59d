// RUN: gpuopt-opt %s -nn-decompose -kernels-form-clusters -kernels-mark-fast-math -kernels-materialize-views -train-plan-memory -convert-to-device -verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s

// A divisor that is known not to be nearly zero may become a factor.
train.step @forward forward ("a" %a: tensor<64x32xf32>, "b" %b: tensor<64x24xf32>, "c" %c: tensor<64x16xf32>,
                             "d" %d: tensor<64x12xf32>, "x" %x: tensor<64x4xf32>, "y" %y: tensor<64x4xf32>,
                             "z" %z: tensor<64x4xf64>) {
  // 1 + exp(-x) is at least 1.
  // CHECK: void fused_neg_exp_add_div(
  // CHECK: fast_divide(1.0f, exp(-
  %a1 = arith.constant dense<1.0> : tensor<64x32xf32>
  %an = arith.negf %a : tensor<64x32xf32>
  %ae = math.exp %an : tensor<64x32xf32>
  %ad = arith.addf %ae, %a1 : tensor<64x32xf32>
  %sigmoid = arith.divf %a1, %ad : tensor<64x32xf32>
  train.output "sigmoid", %sigmoid : tensor<64x32xf32>

  // The largest element of a row adds 1 to the sum.
  // CHECK: void fused_softmax_sub_exp_div(
  // CHECK: fast_divide({{.*}}, sum)
  %softmax = nn.softmax %b dim 1 : tensor<64x24xf32>
  train.output "softmax", %softmax : tensor<64x24xf32>

  // Rows that are masked whole have another divisor.
  // CHECK: void fused_softmax_compare_select_sub(
  // CHECK: fast_divide({{.*}}, selected
  %masked = nn.softmax %c dim 1 {zeroes_empty} : tensor<64x16xf32>
  train.output "masked", %masked : tensor<64x16xf32>

  // A root of squares and an epsilon is at least the epsilon's root.
  // CHECK: void fused_mul_sum_add_sqrt(
  // CHECK: fast_divide({{.*}}, sqrt_x)
  %epsilon = arith.constant dense<1.0e-6> : tensor<64x1xf32>
  %d2 = arith.mulf %d, %d : tensor<64x12xf32>
  %ds = nn.reduce sum %d2 [1] : tensor<64x12xf32>
  %above = arith.addf %ds, %epsilon : tensor<64x1xf32>
  %root = math.sqrt %above : tensor<64x1xf32>
  %rb = nn.broadcast %root : tensor<64x1xf32> to tensor<64x12xf32>
  %normed = arith.divf %d, %rb : tensor<64x12xf32>
  train.output "normed", %normed : tensor<64x12xf32>

  // These may be zero: a divisor that is read, 1 + x, a root of squares without
  // an epsilon, a difference of exponentials, a sum of exponentials that are
  // shifted by another tensor's maximum. Doubles are divided as they are.
  // CHECK: void fused_div_add_mul_sqrt(
  // CHECK-NOT: fast_divide
  %one = arith.constant dense<1.0> : tensor<64x4xf32>
  %0 = arith.divf %x, %y : tensor<64x4xf32>
  %more = arith.addf %x, %one : tensor<64x4xf32>
  %1 = arith.divf %0, %more : tensor<64x4xf32>
  %square = arith.mulf %x, %x : tensor<64x4xf32>
  %absolute = math.sqrt %square : tensor<64x4xf32>
  %2 = arith.divf %1, %absolute : tensor<64x4xf32>
  %ex = math.exp %x : tensor<64x4xf32>
  %ey = math.exp %y : tensor<64x4xf32>
  %difference = arith.subf %ex, %ey : tensor<64x4xf32>
  %3 = arith.divf %2, %difference : tensor<64x4xf32>
  %m = nn.reduce max %y [1] : tensor<64x4xf32>
  %mb = nn.broadcast %m : tensor<64x1xf32> to tensor<64x4xf32>
  %shifted = arith.subf %x, %mb : tensor<64x4xf32>
  %es = math.exp %shifted : tensor<64x4xf32>
  %sum = nn.reduce sum %es [1] : tensor<64x4xf32>
  %sb = nn.broadcast %sum : tensor<64x1xf32> to tensor<64x4xf32>
  %4 = arith.divf %3, %sb : tensor<64x4xf32>
  train.output "quotients", %4 : tensor<64x4xf32>
  %one64 = arith.constant dense<1.0> : tensor<64x4xf64>
  %ez = math.exp %z : tensor<64x4xf64>
  %dz = arith.addf %ez, %one64 : tensor<64x4xf64>
  %5 = arith.divf %one64, %dz : tensor<64x4xf64>
  train.output "doubles", %5 : tensor<64x4xf64>
}
