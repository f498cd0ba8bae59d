// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200" --train-insert-casts | FileCheck %s

// All products would be in half precision. One keeps its result in f32, the other one its operands as well.
// CHECK-LABEL: train.step @forward
// CHECK: %[[SQUARES:.*]] = nn.contract "nc,nd->cd" %{{.*}}, %{{.*}} to f32 wide : tensor<8192x256xf16>, tensor<8192x256xf16>
// CHECK: nn.contract "oc,cd->od" %{{.*}}, %[[SQUARES]] full : tensor<256x256xf32>, tensor<256x256xf32>
// CHECK: nn.contract "nc,oc->no" %{{.*}}, %{{.*}} : tensor<8192x256xf16>, tensor<256x256xf16>
train.variable @w parameter : tensor<256x256xf32>
train.step @forward forward ("x" %x: tensor<8192x256xf32>) {
  %w = train.read @w : tensor<256x256xf32>
  %0 = nn.fused "exp" %x : tensor<8192x256xf32> -> tensor<8192x256xf32> {
  ^bb0(%a: tensor<8192x256xf32>):
    %5 = math.exp %a : tensor<8192x256xf32>
    nn.yield %5 : tensor<8192x256xf32>
  }
  %1 = nn.contract "nc,nd->cd" %0, %0 wide : tensor<8192x256xf32>, tensor<8192x256xf32>
  %2 = nn.contract "oc,cd->od" %w, %1 full : tensor<256x256xf32>, tensor<256x256xf32>
  %3 = nn.contract "nc,oc->no" %0, %w : tensor<8192x256xf32>, tensor<256x256xf32>
  %4 = nn.fused "exp" %3 : tensor<8192x256xf32> -> tensor<8192x256xf32> {
  ^bb0(%a: tensor<8192x256xf32>):
    %5 = math.tanh %a : tensor<8192x256xf32>
    nn.yield %5 : tensor<8192x256xf32>
  }
  train.output "y", %4 : tensor<8192x256xf32>
  train.output "m", %2 : tensor<256x256xf32>
}
