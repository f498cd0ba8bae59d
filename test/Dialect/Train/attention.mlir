// RUN: sed s/f32/f64/g %s | gpuopt-opt --train-build-step="loss=mse" --nn-expand-attention --cse | FileCheck %s
// RUN: sed s/f32/f64/g %s | gpuopt-opt --nn-expand-attention --train-build-step="loss=mse" --cse | FileCheck %s
// RUN: gpuopt-opt %s --train-build-step="loss=mse" | FileCheck %s --check-prefix=CALL
// RUN: gpuopt-opt %s --train-build-step="loss=mse" | FileCheck %s --check-prefix=EVALUATE

// Where the runtime has no call, as for f64, the gradient of attention is that
// of its formula: the step is the same, whether attention is expanded before it
// is differentiated or afterwards. One tensor as query, key and value has the
// sum of three gradients.

// Where there is a call, the gradient is one too.
// CALL-LABEL: train.step @micro_step
// CALL: %[[Y:.*]], %[[S:.*]] = nn.attention %[[X:.*]], %[[X]], %[[X]] scale 2.500000e-01 dropout 1.000000e-01 stream 0
// CALL: nn.attention_grad %[[X]], %[[X]], %[[X]], %[[Y]], %[[S]], %{{.*}} scale 2.500000e-01 dropout 1.000000e-01 stream 0
// CALL-COUNT-2: arith.addf
// CALL: nn.contract "btc,btd->cd"
train.variable @w parameter : tensor<16x16xf32>

// CHECK-LABEL: train.step @micro_step
// The projection, the two products and their four gradients, the projection's.
// CHECK: nn.contract "btc,cd->btd"
// CHECK: nn.contract "axy,azy->axz"
// CHECK: nn.softmax
// CHECK-NOT: nn.softmax
// CHECK: nn.dropout
// CHECK: nn.contract "axy,ayz->axz"
// CHECK: nn.contract "axz,ayz->axy"
// CHECK: nn.contract "axy,axz->ayz"
// CHECK-COUNT-2: nn.contract "{{axz,azy->axy|axy,axz->azy}}"
// CHECK: nn.contract "btc,btd->cd"
// CHECK-NOT: nn.contract
// CHECK: train.update

// The evaluation drops nothing.
// EVALUATE-LABEL: train.step @evaluate
// EVALUATE: nn.attention %{{.*}}, %{{.*}}, %{{.*}} scale 2.500000e-01 :
func.func @forward(%x: tensor<4x8x16xf32> {nn.name = "x"}) -> (tensor<4x8x16xf32> {nn.name = "y"}) {
  %w = train.read @w : tensor<16x16xf32>
  %0 = nn.contract "btc,cd->btd" %x, %w : tensor<4x8x16xf32>, tensor<16x16xf32>
  %1:2 = nn.attention %0, %0, %0 scale 0.25 dropout 0.1 stream 0 : tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>
  return %1#0 : tensor<4x8x16xf32>
}
