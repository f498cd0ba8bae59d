// RUN: gpuopt-opt %s -kernels-mark-in-place -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// A kernel that adds up what it writes: each group of threads writes its own
// rows, over the operand that it has read, and the first one the sums.
// CHECK: void fused_mul_sum(const float *x0, const float *RESTRICT x1, float *y0,
// CHECK: for (int64_t start = group<8>(); start < 2048; start += 4 * groups<32>()) {
// CHECK: x0_i[k] = load_vector(x0 + r * 64 + i);
// CHECK: const auto product = x0_i[k] * x1_i[k];
// CHECK-NEXT: store_vector(y0 + r * 64 + i, product);
// CHECK-NEXT: sums += product;
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: const auto sum = sum_of_groups<8, 32>(sums);
// CHECK-NEXT: if (group<8>() == 0)
// CHECK-NEXT: store_vector(y1 + i, sum);
train.step @product forward ("a" %a0: tensor<2048x64xf32>, "b" %b0: tensor<2048x64xf32>) {
  %x = nn.fused "abs" %a0 : tensor<2048x64xf32> -> tensor<2048x64xf32> {
  ^bb0(%a: tensor<2048x64xf32>):
    %0 = math.absf %a : tensor<2048x64xf32>
    nn.yield %0 : tensor<2048x64xf32>
  }
  %p:2 = nn.fused "mul_sum" %x, %b0 : tensor<2048x64xf32>, tensor<2048x64xf32> -> tensor<2048x64xf32>, tensor<1x64xf32> {
  ^bb0(%a: tensor<2048x64xf32>, %b: tensor<2048x64xf32>):
    %0 = arith.mulf %a, %b : tensor<2048x64xf32>
    %1 = nn.reduce sum %0 [0] : tensor<2048x64xf32>
    nn.yield %0, %1 : tensor<2048x64xf32>, tensor<1x64xf32>
  }
  train.output "product", %p#0 : tensor<2048x64xf32>
  train.output "sums", %p#1 : tensor<1x64xf32>
}
