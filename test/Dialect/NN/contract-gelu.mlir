// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --kernels-materialize-views --verify-clusters --train-plan-memory --convert-to-device --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %s --train-assign-precision="half-type=bf16 device=h200" --train-insert-casts | FileCheck %s --check-prefix=HALF
// RUN: gpuopt-opt %s --train-reserve-workspace | FileCheck %s --check-prefix=WORKSPACE

// Batches and rows merge into the rows of one matrix.
// CHECK: %{{.*}}, %{{.*}} = nn.contract_gelu "btc,cd->btd" %{{.*}}, %{{.*}} bias %{{.*}} keeps_input : tensor<64x128x64xf32>, tensor<64x256xf32> bias tensor<256xf32>
// CHECK: nn.contract_gelu "btc,cd->btd" %{{.*}}, %{{.*}} : tensor<64x128x64xf32>, tensor<64x256xf32>
// CHECK: %{{.*}}, %{{.*}} = nn.contract_gelu_grad "btc,dc->btd" %{{.*}}, %{{.*}} at %{{.*}} sums_columns : tensor<64x128x64xf32>, tensor<256x64xf32> at tensor<64x128x256xf32>
// CHECK: nn.contract_gelu_grad "btc,dc->btd" %{{.*}}, %{{.*}} at %{{.*}} : tensor<64x128x64xf32>, tensor<256x64xf32> at tensor<64x128x256xf32>

// CXX: gemm_gelu(ctx, kGemm8192x256x64, m[kX], m[kW2], m[kB2], m[kContractGelu], m[kContractGelu2]);
// CXX: gemm_gelu(ctx, kGemm8192x256x64, m[kX], m[kW2], /*bias=*/nullptr, m[{{.*}}], /*input=*/nullptr);
// CXX: gemm_gelu_backward(ctx, kGemm8192x256x64_nt, m[kX], m[kV2], m[kContractGelu2], m[kContractGeluGrad],
// CXX-NEXT: m[kContractGeluGrad2]);
// CXX: gemm_gelu_backward(ctx, kGemm8192x256x64_nt, m[kX], m[kV2], m[kContractGelu2], m[kContractGeluGrad3],
// CXX-NEXT: /*sums=*/nullptr);

// All tensors of such a product have one type, and so has its bias.
// HALF: nn.contract_gelu {{.*}} keeps_input : tensor<64x128x64xbf16>, tensor<64x256xbf16> bias tensor<256xbf16>
// HALF: nn.contract_gelu_grad {{.*}} sums_columns : tensor<64x128x64xbf16>, tensor<256x64xbf16> at tensor<64x128x256xbf16>

// WORKSPACE: train.variable @library_workspace workspace : tensor<33554432xi8>

train.variable @w parameter : tensor<64x256xf32>
train.variable @b parameter : tensor<256xf32>
train.variable @v parameter : tensor<256x64xf32>
train.step @forward forward ("x" %x: tensor<64x128x64xf32>) {
  %w = train.read @w : tensor<64x256xf32>
  %b = train.read @b : tensor<256xf32>
  %v = train.read @v : tensor<256x64xf32>
  %y, %z = nn.contract_gelu "btc,cd->btd" %x, %w bias %b keeps_input : tensor<64x128x64xf32>, tensor<64x256xf32> bias tensor<256xf32>
  %0 = nn.contract_gelu "btc,cd->btd" %x, %w : tensor<64x128x64xf32>, tensor<64x256xf32>
  %dz, %db = nn.contract_gelu_grad "btc,dc->btd" %x, %v at %z sums_columns : tensor<64x128x64xf32>, tensor<256x64xf32> at tensor<64x128x256xf32>
  %1 = nn.contract_gelu_grad "btc,dc->btd" %x, %v at %z : tensor<64x128x64xf32>, tensor<256x64xf32> at tensor<64x128x256xf32>
  %2 = nn.fused "add" %y, %0, %dz, %1 : tensor<64x128x256xf32>, tensor<64x128x256xf32>, tensor<64x128x256xf32>, tensor<64x128x256xf32> -> tensor<64x128x256xf32> {
  ^bb0(%a: tensor<64x128x256xf32>, %c: tensor<64x128x256xf32>, %d: tensor<64x128x256xf32>, %e: tensor<64x128x256xf32>):
    %3 = arith.addf %a, %c : tensor<64x128x256xf32>
    %4 = arith.mulf %d, %e : tensor<64x128x256xf32>
    %5 = arith.addf %3, %4 : tensor<64x128x256xf32>
    nn.yield %5 : tensor<64x128x256xf32>
  }
  %6 = nn.fused "exp" %db : tensor<256xf32> -> tensor<256xf32> {
  ^bb0(%a: tensor<256xf32>):
    %7 = math.exp %a : tensor<256xf32>
    nn.yield %7 : tensor<256xf32>
  }
  train.output "y", %2 : tensor<64x128x256xf32>
  train.output "db", %6 : tensor<256xf32>
}
