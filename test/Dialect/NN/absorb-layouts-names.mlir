// RUN: gpuopt-opt %s -nn-absorb-layouts --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A product that takes a transpose in keeps its own name, by which users say
// what is in half precision.

// CHECK: nn.contract "ik,kj->ji" {{.*}} loc("scores"("MatMul"))
func.func @result(%x: tensor<4x8xf32>, %y: tensor<8x2xf32>) -> tensor<2x4xf32> {
  %0 = nn.contract "ik,kj->ij" %x, %y : tensor<4x8xf32>, tensor<8x2xf32> loc("scores"("MatMul"))
  %1 = nn.transpose %0 [1, 0] : tensor<4x2xf32> loc("turned"("Transpose"))
  return %1 : tensor<2x4xf32>
}

// CHECK: nn.contract "ki,kj->ij" {{.*}} loc("weights"("Gemm"))
func.func @operand(%x: tensor<8x4xf32>, %y: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %0 = nn.transpose %x [1, 0] : tensor<8x4xf32> loc("turned"("Transpose"))
  %1 = nn.contract "ik,kj->ij" %0, %y : tensor<4x8xf32>, tensor<8x2xf32> loc("weights"("Gemm"))
  return %1 : tensor<4x2xf32>
}
