// RUN: gpuopt-opt %s -kernels-form-clusters -kernels-materialize-views -train-plan-memory -convert-to-device | FileCheck %s
// RUN: not gpuopt-opt %s -convert-to-device 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: not gpuopt-opt %s -kernels-form-clusters -kernels-materialize-views -train-plan-memory -convert-to-device -convert-to-device -o /dev/null 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: 'device.memory' op is there already: convert-to-device runs once

// The scalars take 2048 bytes; w (1 KiB) and x (256 bytes) follow.
// CHECK: device.memory persistent 3584 arena 512
// CHECK: device.buffer @w_2 state at 2048 : tensor<16x16xf32> {origin = "w", variable = @w}
// CHECK: device.buffer @x input at 3072 : tensor<4x16xf32>
// CHECK: device.buffer @y output at 3328 : tensor<4x16xf32>
// The product lives until the kernel; the kernel's result until the second
// product, which writes to the output.
// CHECK: device.buffer @contract arena at {{[0-9]+}} : tensor<4x16xf32> live 0 to 2 in @s
// CHECK: device.buffer @exp arena at {{[0-9]+}} : tensor<4x16xf32> live 1 to 3 in @s

// CHECK-LABEL: device.kernel @fused_exp
// CHECK: device.loop lanes
// CHECK: device.load {{.*}} contiguous
// CHECK: math.exp
// CHECK: device.store {{.*}} contiguous

// CHECK-LABEL: device.step @s forward
// CHECK: device.call "gemm"(GemmShape kGemm4x16x16 {m = 4, n = 16, k = 16, a_m = 16, b_k = 16, c_m = 16}, %{{.*}}, %{{.*}}, %{{[0-9]+}}) 
// CHECK: device.launch @fused_exp
// The transposed weight is a pair of strides.
// CHECK: device.call "gemm"(GemmShape kGemm4x16x16_nt {m = 4, n = 16, k = 16, a_m = 16, b_n = 16, c_m = 16}, 
// CHECK-NOT: device.copy

// EARLY: cannot be converted to the device dialect; run the passes of gpuopt-to-memory before, of which kernels-form-clusters replaces it
train.variable @w parameter : tensor<16x16xf32>
train.step @s forward ("x" %x: tensor<4x16xf32>) {
  %w = train.read @w : tensor<16x16xf32>
  %u = nn.contract "ik,kj->ij" %x, %w : tensor<4x16xf32>, tensor<16x16xf32>
  %t = math.exp %u : tensor<4x16xf32>
  %v = nn.contract "ik,jk->ij" %t, %w : tensor<4x16xf32>, tensor<16x16xf32>
  train.output "y", %v : tensor<4x16xf32>
}
