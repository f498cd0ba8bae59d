// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device | FileCheck %s

// Each exponential is computed once: the walk that sums them keeps them for the
// one that divides. The scaled input is cheaper to compute again.
// CHECK-LABEL: device.kernel @fused_mul_max_sub_exp
// CHECK: %[[ROW:.*]] = device.row 64 : <f32>
// CHECK-NOT: device.row
// CHECK: device.loop lanes {{.*}}<max>
// CHECK-NOT: math.exp
// CHECK: device.loop lanes {{.*}}<sum>
// CHECK: %[[E:.*]] = math.exp
// CHECK: device.store %[[E]], %[[ROW]][%{{.*}} : index] strides [1] offset 0 contiguous
// CHECK: device.loop lanes
// CHECK-NOT: math.exp
// CHECK: device.load %[[ROW]][%{{.*}} : index] strides [1] offset 0 contiguous
train.step @softmax forward ("x" %x: tensor<32x64xf32>) {
  %scale = arith.constant dense<0.125> : tensor<32x64xf32>
  %s = arith.mulf %x, %scale : tensor<32x64xf32>
  %m = nn.reduce max %s [1] : tensor<32x64xf32>
  %mb = nn.broadcast %m : tensor<32x1xf32> to tensor<32x64xf32>
  %d = arith.subf %s, %mb : tensor<32x64xf32>
  %e = math.exp %d : tensor<32x64xf32>
  %t = nn.reduce sum %e [1] : tensor<32x64xf32>
  %tb = nn.broadcast %t : tensor<32x1xf32> to tensor<32x64xf32>
  %y = arith.divf %e, %tb : tensor<32x64xf32>
  train.output "softmax", %y : tensor<32x64xf32>
}

// A row of more than 16 KiB is computed again.
// CHECK-LABEL: device.kernel @fused_exp_sum_div
// CHECK-NOT: device.row
// CHECK: math.exp
// CHECK: math.exp
train.step @long_row forward ("wide" %x: tensor<4x4097xf32>) {
  %e = math.exp %x : tensor<4x4097xf32>
  %t = nn.reduce sum %e [1] : tensor<4x4097xf32>
  %tb = nn.broadcast %t : tensor<4x1xf32> to tensor<4x4097xf32>
  %y = arith.divf %e, %tb : tensor<4x4097xf32>
  train.output "long", %y : tensor<4x4097xf32>
}

// Once a value is kept, computing others from it is cheap.
// CHECK-LABEL: device.kernel @fused_tanh_sum_sub_mul
// CHECK: %[[KEPT:.*]] = device.row 64
// CHECK-NOT: device.row
// CHECK: %[[T:.*]] = math.tanh
// CHECK: device.store %[[T]], %[[KEPT]]
// CHECK-NOT: math.tanh
// CHECK-LABEL: device.step @chain
train.step @chain forward ("z" %x: tensor<32x64xf32>) {
  %h = math.tanh %x : tensor<32x64xf32>
  %m = nn.reduce sum %h [1] : tensor<32x64xf32>
  %mb = nn.broadcast %m : tensor<32x1xf32> to tensor<32x64xf32>
  %d = arith.subf %h, %mb : tensor<32x64xf32>
  %q = arith.mulf %d, %d : tensor<32x64xf32>
  %v = nn.reduce sum %q [1] : tensor<32x64xf32>
  %vb = nn.broadcast %v : tensor<32x1xf32> to tensor<32x64xf32>
  %y = arith.mulf %d, %vb : tensor<32x64xf32>
  train.output "chain", %y : tensor<32x64xf32>
}
