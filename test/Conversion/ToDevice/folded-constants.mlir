// RUN: gpuopt-opt %s -train-plan-memory -convert-to-device | FileCheck %s

// What is known of constants is not computed: the mask alone selects, and
// nothing is multiplied by 1. A function of a constant is left to the runtime.

// CHECK-LABEL: device.kernel @fused_mask
// CHECK-NOT: arith.cmpf
// CHECK-NOT: arith.andi
// CHECK: %[[MASK:.*]] = device.load {{.*}} -> i1
// CHECK: %[[EXP:.*]] = math.exp %cst
// CHECK: arith.select %[[MASK]], %{{.*}}, %[[EXP]]
train.step @forward_step forward ("mask" %mask: tensor<8x16xi1>) {
  %0 = nn.fused "mask" %mask : tensor<8x16xi1> -> tensor<8x16xf32> {
  ^bb0(%m: tensor<8x16xi1>):
    %one = arith.constant dense<1.0> : tensor<8x16xf32>
    %zero = arith.constant dense<0.0> : tensor<8x16xf32>
    %low = arith.constant dense<-2.0> : tensor<8x16xf32>
    %t = arith.cmpf une, %one, %zero : tensor<8x16xf32>
    %a = arith.andi %t, %m : tensor<8x16xi1>
    %e = math.exp %low : tensor<8x16xf32>
    %p = arith.mulf %e, %one : tensor<8x16xf32>
    %s = arith.select %a, %zero, %p : tensor<8x16xi1>, tensor<8x16xf32>
    nn.yield %s : tensor<8x16xf32>
  }
  train.output "out", %0 : tensor<8x16xf32>
}
