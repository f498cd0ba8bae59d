// RUN: gpuopt-opt %s -split-input-file --kernels-materialize-views --train-plan-memory --convert-to-device --verify-device | FileCheck %s

// What is made for an output is written to it, through views that keep the order
// of the elements; the parts of a concatenation as well.
// CHECK: arena 0
// CHECK-LABEL: device.step @dense
// CHECK: %[[Y:.*]] = device.address @y :
// CHECK-NEXT: device.launch {{.*}}, %[[Y]]
// CHECK: device.address @joined :
// CHECK: device.launch
// CHECK: device.address @joined + 2 :
// CHECK: device.launch
// CHECK-NOT: device.copy
train.step @dense forward ("x" %x: tensor<4x2xf32>) {
  %0 = nn.fused "exp" %x : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %e = math.exp %a : tensor<4x2xf32>
    nn.yield %e : tensor<4x2xf32>
  }
  %1 = nn.reshape %0 : tensor<4x2xf32> to tensor<8xf32>
  train.output "y", %1 : tensor<8xf32>
  %2 = nn.concat %x, %x dim 1 : tensor<4x2xf32>, tensor<4x2xf32>
  train.output "joined", %2 : tensor<4x4xf32>
}

// -----

// One value for two outputs is written to the first and copied to the second. An
// input is copied, and a part of a tensor. Of what a later kernel overwrites, the
// last content stays, and the one before is copied.
// CHECK-LABEL: device.step @copied
// CHECK: device.launch @fused_exp
// CHECK-COUNT-4: device.copy
// CHECK-NOT: device.copy
train.step @copied forward ("x" %x: tensor<4x2xf32>) {
  %0 = nn.fused "exp" %x : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %e = math.exp %a : tensor<4x2xf32>
    nn.yield %e : tensor<4x2xf32>
  }
  train.output "first", %0 : tensor<4x2xf32>
  train.output "second", %0 : tensor<4x2xf32>
  train.output "same", %x : tensor<4x2xf32>
  %1 = nn.fused "sin" %x : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %e = math.sin %a : tensor<4x2xf32>
    nn.yield %e : tensor<4x2xf32>
  }
  %part = nn.slice %1 [0, 0] [2, 2] [1, 1] : tensor<4x2xf32>
  train.output "part", %part : tensor<2x2xf32>
  %2 = nn.fused "cos" %x : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %e = math.cos %a : tensor<4x2xf32>
    nn.yield %e : tensor<4x2xf32>
  }
  train.output "before", %2 : tensor<4x2xf32>
  %3 = nn.fused "neg" %2 {in_place = array<i64: 0>} : tensor<4x2xf32> -> tensor<4x2xf32> {
  ^bb0(%a: tensor<4x2xf32>):
    %e = arith.negf %a : tensor<4x2xf32>
    nn.yield %e : tensor<4x2xf32>
  }
  train.output "behind", %3 : tensor<4x2xf32>
}
