// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --kernels-materialize-views --verify-clusters --train-plan-memory --convert-to-device --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %s --train-assign-precision="half-type=f16 device=h200" --train-insert-casts | FileCheck %s --check-prefix=HALF
// RUN: gpuopt-opt %s --train-reserve-workspace | FileCheck %s --check-prefix=WORKSPACE

// A row of 272 bits takes 384, which are twelve words.
// CHECK: %{{.*}}, %{{.*}} = nn.contract_relu "btc,cd->btd" %{{.*}}, %{{.*}} bias %{{.*}} plus %{{.*}} keeps_mask : tensor<64x128x64xf32>, tensor<64x272xf32> bias tensor<272xf32> plus tensor<64x128x272xf32>
// CHECK: nn.contract_relu "btc,cd->btd" %{{.*}}, %{{.*}} : tensor<64x128x64xf32>, tensor<64x272xf32>
// CHECK: nn.contract_relu_grad "btc,dc->btd" %{{.*}}, %{{.*}} mask %{{.*}} plus %{{.*}} : tensor<64x128x64xf32>, tensor<272x64xf32> mask tensor<8192x12xi32> plus tensor<64x128x272xf32>
// CHECK: nn.contract_relu_grad "btc,dc->btd" %{{.*}}, %{{.*}} mask %{{.*}} : tensor<64x128x64xf32>, tensor<272x64xf32> mask tensor<8192x12xi32>

// CXX: gemm_relu(ctx, kGemm8192x272x64, m[kX], m[kW2], m[kB2], m[kR], m[kContractRelu], m[kContractRelu2]);
// CXX: gemm_relu(ctx, kGemm8192x272x64, m[kX], m[kW2], /*bias=*/nullptr, /*added=*/nullptr, m[{{.*}}],
// CXX-NEXT: /*mask=*/nullptr);
// CXX: gemm_relu_backward(ctx, kGemm8192x272x64_nt, m[kX], m[kV2], m[kContractRelu2], m[kR], m[kContractReluGrad]);
// CXX: gemm_relu_backward(ctx, kGemm8192x272x64_nt, m[kX], m[kV2], m[kContractRelu2], /*added=*/nullptr,
// CXX-NEXT: m[kContractReluGrad2]);

// What is added has the type of the result, and the mask is bits.
// HALF: nn.contract_relu {{.*}} keeps_mask : tensor<64x128x64xf16>, tensor<64x272xf16> bias tensor<272xf16> plus tensor<64x128x272xf16>
// HALF: nn.contract_relu_grad {{.*}} : tensor<64x128x64xf16>, tensor<272x64xf16> mask tensor<8192x12xi32> plus tensor<64x128x272xf16>

// WORKSPACE: train.variable @library_workspace workspace : tensor<33554432xi8>

train.variable @w parameter : tensor<64x272xf32>
train.variable @b parameter : tensor<272xf32>
train.variable @v parameter : tensor<272x64xf32>
train.step @forward forward ("x" %x: tensor<64x128x64xf32>, "r" %r: tensor<64x128x272xf32>) {
  %w = train.read @w : tensor<64x272xf32>
  %b = train.read @b : tensor<272xf32>
  %v = train.read @v : tensor<272x64xf32>
  %y, %mask = nn.contract_relu "btc,cd->btd" %x, %w bias %b plus %r keeps_mask : tensor<64x128x64xf32>, tensor<64x272xf32> bias tensor<272xf32> plus tensor<64x128x272xf32>
  %0 = nn.contract_relu "btc,cd->btd" %x, %w : tensor<64x128x64xf32>, tensor<64x272xf32>
  %dz = nn.contract_relu_grad "btc,dc->btd" %x, %v mask %mask plus %r : tensor<64x128x64xf32>, tensor<272x64xf32> mask tensor<8192x12xi32> plus tensor<64x128x272xf32>
  %1 = nn.contract_relu_grad "btc,dc->btd" %x, %v mask %mask : tensor<64x128x64xf32>, tensor<272x64xf32> mask tensor<8192x12xi32>
  %2 = nn.fused "add" %y, %0, %dz, %1 : tensor<64x128x272xf32>, tensor<64x128x272xf32>, tensor<64x128x272xf32>, tensor<64x128x272xf32> -> tensor<64x128x272xf32> {
  ^bb0(%a: tensor<64x128x272xf32>, %c: tensor<64x128x272xf32>, %d: tensor<64x128x272xf32>, %e: tensor<64x128x272xf32>):
    %3 = arith.addf %a, %c : tensor<64x128x272xf32>
    %4 = arith.mulf %d, %e : tensor<64x128x272xf32>
    %5 = arith.addf %3, %4 : tensor<64x128x272xf32>
    nn.yield %5 : tensor<64x128x272xf32>
  }
  train.output "y", %2 : tensor<64x128x272xf32>
}
