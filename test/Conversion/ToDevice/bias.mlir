// RUN: gpuopt-opt %s --train-plan-memory --convert-to-device | FileCheck %s

// The library adds the bias, as it lies in the parameter's memory.
// CHECK: device.buffer @[[BIAS:.*]] state at {{.*}} : tensor<32xf32> {{.*}}variable = @b
// CHECK-LABEL: device.step @forward_step
// CHECK: %[[B:.*]] = device.address @[[BIAS]] :
// CHECK: device.call "gemm"(GemmShape kGemm32x32x16 {m = 32, n = 32, k = 16, {{.*}}}, %{{.*}}, %{{.*}}, %{{.*}}, {bias = %[[B]]})
train.variable @w parameter : tensor<16x32xf32>
train.variable @b parameter : tensor<32xf32>
train.step @forward_step forward ("x" %x: tensor<4x8x16xf32>) {
  %w = train.read @w : tensor<16x32xf32>
  %b = train.read @b : tensor<32xf32>
  %0 = nn.contract "btc,cd->btd" %x, %w bias %b : tensor<4x8x16xf32>, tensor<16x32xf32> bias tensor<32xf32>
  train.output "y", %0 : tensor<4x8x32xf32>
}
