// RUN: gpuopt-opt %s -kernels-form-clusters -train-plan-memory -convert-to-device=device=h200 | gpuopt-translate --device-to-cxx | FileCheck %s

// A number that is subtracted at the place of a label alone, and zero elsewhere,
// is subtracted by the vector that has the place. Where it is something else
// elsewhere, be it minus zero, all vectors subtract.
// CHECK-LABEL: void fused_{{.*}}x0
// CHECK: minus_at({{.*}}, i, labels0_b, 2.0f)
// CHECK-LABEL: void fused_{{.*}}x1
// CHECK: - select(is_at(i, labels1_b), 2.0f, 1.0f)
// CHECK-LABEL: void fused_{{.*}}x2
// CHECK: - select(is_at(i, labels2_b), 2.0f, -0.0f)
train.step @places forward ("x0" %x0: tensor<9x9001xf32>, "x1" %x1: tensor<10x9001xf32>, "x2" %x2: tensor<11x9001xf32>,
                           "labels0" %labels0: tensor<9x1xi64>, "labels1" %labels1: tensor<10x1xi64>, "labels2" %labels2: tensor<11x1xi64>) {
  %i0 = nn.iota dim 1 : tensor<9x9001xi64>
  %l0 = nn.broadcast %labels0 : tensor<9x1xi64> to tensor<9x9001xi64>
  %is0 = arith.cmpi eq, %i0, %l0 : tensor<9x9001xi64>
  %two0 = arith.constant dense<2.0> : tensor<9x9001xf32>
  %else0 = arith.constant dense<0.0> : tensor<9x9001xf32>
  %v0 = arith.select %is0, %two0, %else0 : tensor<9x9001xi1>, tensor<9x9001xf32>
  %y0 = arith.subf %x0, %v0 : tensor<9x9001xf32>
  train.output "y0", %y0 : tensor<9x9001xf32>
  %i1 = nn.iota dim 1 : tensor<10x9001xi64>
  %l1 = nn.broadcast %labels1 : tensor<10x1xi64> to tensor<10x9001xi64>
  %is1 = arith.cmpi eq, %i1, %l1 : tensor<10x9001xi64>
  %two1 = arith.constant dense<2.0> : tensor<10x9001xf32>
  %else1 = arith.constant dense<1.0> : tensor<10x9001xf32>
  %v1 = arith.select %is1, %two1, %else1 : tensor<10x9001xi1>, tensor<10x9001xf32>
  %y1 = arith.subf %x1, %v1 : tensor<10x9001xf32>
  train.output "y1", %y1 : tensor<10x9001xf32>
  %i2 = nn.iota dim 1 : tensor<11x9001xi64>
  %l2 = nn.broadcast %labels2 : tensor<11x1xi64> to tensor<11x9001xi64>
  %is2 = arith.cmpi eq, %i2, %l2 : tensor<11x9001xi64>
  %two2 = arith.constant dense<2.0> : tensor<11x9001xf32>
  %else2 = arith.constant dense<-0.0> : tensor<11x9001xf32>
  %v2 = arith.select %is2, %two2, %else2 : tensor<11x9001xi1>, tensor<11x9001xf32>
  %y2 = arith.subf %x2, %v2 : tensor<11x9001xf32>
  train.output "y2", %y2 : tensor<11x9001xf32>
}
