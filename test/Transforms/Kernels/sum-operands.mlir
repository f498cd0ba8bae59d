// RUN: gpuopt-opt %s --kernels-sum-operands=device=h200 | FileCheck %s
// RUN: gpuopt-opt %s --kernels-sum-operands=device=h200 --remarks-filter=epilogues --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: gpuopt-opt %s --kernels-sum-operands=device=host > %t.host
// RUN: gpuopt-opt %s | diff - %t.host

// The gradients of a weight and a bias. Both stages of the sum are gone.
// REMARK: the epilogue of a product makes '{{.*}}': {{[0-9.]+}} us instead of {{[0-9.]+}} us
// CHECK-LABEL: train.step @gradients
// CHECK: %[[W:.*]], %[[SUMS:.*]] = nn.contract_sums "bto,btc->oc" %{{.*}}, %{{.*}} : tensor<256x64x256xf16>, tensor<256x64x64xf16>
// CHECK: %[[B:.*]] = nn.reshape %[[SUMS]] : tensor<256xf32> to tensor<1x1x256xf32>
// CHECK-NOT: nn.fused
// CHECK: train.output "w", %[[W]]
// CHECK: train.output "b", %[[B]]
train.step @gradients forward ("z" %z: tensor<256x64x256xf16>, "x" %x: tensor<256x64x64xf16>) {
  %0 = nn.fused "sum" %z : tensor<256x64x256xf16> -> tensor<256x1x256xf32> {
  ^bb0(%a: tensor<256x64x256xf16>):
    %3 = arith.extf %a : tensor<256x64x256xf16> to tensor<256x64x256xf32>
    %4 = nn.reduce sum %3 [1] : tensor<256x64x256xf32>
    nn.yield %4 : tensor<256x1x256xf32>
  }
  %1 = nn.contract "bto,btc->oc" %z, %x to f32 wide : tensor<256x64x256xf16>, tensor<256x64x64xf16>
  %2 = nn.fused "sum" %0 : tensor<256x1x256xf32> -> tensor<1x1x256xf32> {
  ^bb0(%a: tensor<256x1x256xf32>):
    %3 = nn.reduce sum %a [0] : tensor<256x1x256xf32>
    nn.yield %3 : tensor<1x1x256xf32>
  }
  train.output "w", %1 : tensor<256x64xf32>
  train.output "b", %2 : tensor<1x1x256xf32>
}

// The sums would have the type of the result, which rounds.
// CHECK-LABEL: train.step @half_result
// CHECK: nn.fused "sum"
// CHECK: nn.contract "to,tc->oc"
train.step @half_result forward ("z" %z: tensor<16384x256xf16>, "x" %x: tensor<16384x64xf16>) {
  %0 = nn.fused "sum" %z : tensor<16384x256xf16> -> tensor<1x256xf32> {
  ^bb0(%a: tensor<16384x256xf16>):
    %2 = arith.extf %a : tensor<16384x256xf16> to tensor<16384x256xf32>
    %3 = nn.reduce sum %2 [0] : tensor<16384x256xf32>
    nn.yield %3 : tensor<1x256xf32>
  }
  %1 = nn.contract "to,tc->oc" %z, %x : tensor<16384x256xf16>, tensor<16384x64xf16>
  train.output "w", %1 : tensor<256x64xf16>
  train.output "b", %0 : tensor<1x256xf32>
}

// What is added up is not the operand.
// CHECK-LABEL: train.step @squares
// CHECK: nn.fused "mul_sum"
// CHECK: nn.contract "to,tc->oc"
train.step @squares forward ("z" %z: tensor<16384x256xf16>, "x" %x: tensor<16384x64xf16>) {
  %0 = nn.fused "mul_sum" %z : tensor<16384x256xf16> -> tensor<1x256xf32> {
  ^bb0(%a: tensor<16384x256xf16>):
    %2 = arith.extf %a : tensor<16384x256xf16> to tensor<16384x256xf32>
    %4 = arith.mulf %2, %2 : tensor<16384x256xf32>
    %3 = nn.reduce sum %4 [0] : tensor<16384x256xf32>
    nn.yield %3 : tensor<1x256xf32>
  }
  %1 = nn.contract "to,tc->oc" %z, %x to f32 wide : tensor<16384x256xf16>, tensor<16384x64xf16>
  train.output "w", %1 : tensor<256x64xf32>
  train.output "b", %0 : tensor<1x256xf32>
}

// Something reads the sums before the product.
// CHECK-LABEL: train.step @read_before
// CHECK: nn.fused "sum"
// CHECK: nn.contract "to,tc->oc"
train.step @read_before forward ("z" %z: tensor<16384x256xf16>, "x" %x: tensor<16384x64xf16>) {
  %0 = nn.fused "sum" %z : tensor<16384x256xf16> -> tensor<1x256xf32> {
  ^bb0(%a: tensor<16384x256xf16>):
    %2 = arith.extf %a : tensor<16384x256xf16> to tensor<16384x256xf32>
    %3 = nn.reduce sum %2 [0] : tensor<16384x256xf32>
    nn.yield %3 : tensor<1x256xf32>
  }
  train.output "b", %0 : tensor<1x256xf32>
  %1 = nn.contract "to,tc->oc" %z, %x to f32 wide : tensor<16384x256xf16>, tensor<16384x64xf16>
  train.output "w", %1 : tensor<256x64xf32>
}
