// RUN: gpuopt-opt %s | gpuopt-opt | FileCheck %s
// RUN: gpuopt-opt %s --kernels-materialize-views --verify-clusters --train-plan-memory --convert-to-device --verify-device \
// RUN:   | gpuopt-translate --device-to-cxx | FileCheck %s --check-prefix=CXX
// RUN: gpuopt-opt %s --train-reserve-workspace | FileCheck %s --check-prefix=WORKSPACE
// RUN: not gpuopt-opt %s --train-reserve-workspace="workspace-bytes=1024" 2>&1 | FileCheck %s --check-prefix=SMALL

// CHECK: %{{.*}}, %{{.*}} = nn.contract_sums "nhwo,nhwc->oc" %{{.*}}, %{{.*}} : tensor<8x7x7x256xf16>, tensor<8x7x7x64xf16>
// CXX: gemm_sums(ctx, kGemm256x64x392_tn, m[kZ], m[kX], m[kW], m[kB]);
// A library may lack the epilogue. The runtime then adds up 392 rows in 7 parts of
// 256 sums.
// SMALL: error: 'nn.contract_sums' op needs a workspace of at least 7168 B, but it is 1024 B
// WORKSPACE: train.variable @library_workspace workspace : tensor<33554432xi8>
train.step @forward forward ("x" %x: tensor<8x7x7x64xf16>, "z" %z: tensor<8x7x7x256xf16>) {
  %0, %1 = nn.contract_sums "nhwo,nhwc->oc" %z, %x : tensor<8x7x7x256xf16>, tensor<8x7x7x64xf16>
  train.output "w", %0 : tensor<256x64xf32>
  train.output "b", %1 : tensor<256xf32>
}
