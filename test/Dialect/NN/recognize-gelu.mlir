// RUN: gpuopt-opt %s --nn-recognize-gelu --mlir-print-debuginfo --mlir-print-local-scope --split-input-file | FileCheck %s
// RUN: gpuopt-opt %s --nn-recognize-gelu --split-input-file --remarks-filter=recognize-gelu \
// RUN:   --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// As transformers' NewGELUActivation is exported. All but x and what else reads
// is part of the Gelu, under the name of its last node.
// CHECK-LABEL: func.func @tanh_form
// CHECK: math.absf {{.*}} loc("abs"("Abs"))
// CHECK: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.addf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: math.tanh {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.addf {{.*}} loc("last"("Gelu"))
// CHECK-NEXT: arith.mulf {{.*}} loc("last"("Gelu"))
// REMARK: [Passed] gelu {{.*}}"by tanh"
func.func @tanh_form(%in: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %cubic = arith.constant dense<0.044715> : tensor<8xf32>
  %root = arith.constant dense<0.797884583> : tensor<8xf32>
  %x = math.absf %in : tensor<8xf32> loc("abs"("Abs"))
  %0 = arith.mulf %x, %half : tensor<8xf32> loc("mul"("Mul"))
  %1 = arith.mulf %x, %x : tensor<8xf32> loc("pow"("Pow"))
  %2 = arith.mulf %1, %x : tensor<8xf32> loc("pow"("Pow"))
  %3 = arith.mulf %2, %cubic : tensor<8xf32> loc("mul_1"("Mul"))
  %4 = arith.addf %x, %3 : tensor<8xf32> loc("add"("Add"))
  %5 = arith.mulf %4, %root : tensor<8xf32> loc("mul_2"("Mul"))
  %6 = math.tanh %5 : tensor<8xf32> loc("tanh"("Tanh"))
  %7 = arith.addf %6, %one : tensor<8xf32> loc("add_1"("Add"))
  %8 = arith.mulf %0, %7 : tensor<8xf32> loc("last"("Mul"))
  return %8 : tensor<8xf32>
}

// -----

// 1 + 0.044715 x^2 beside x, the half last; the square is read elsewhere too.
// CHECK-LABEL: func.func @factored
// CHECK: arith.mulf {{.*}} loc("square"("Mul"))
// CHECK: math.tanh {{.*}} loc("last"("Gelu"))
// CHECK: arith.mulf {{.*}} loc("last"("Gelu"))
// CHECK: arith.mulf {{.*}} loc("last"("Gelu"))
// REMARK: [Passed] gelu {{.*}}"by tanh"
func.func @factored(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %cubic = arith.constant dense<0.044715> : tensor<8xf32>
  %root = arith.constant dense<0.79788456> : tensor<8xf32>
  %0 = arith.mulf %x, %x : tensor<8xf32> loc("square"("Mul"))
  %1 = arith.mulf %cubic, %0 : tensor<8xf32> loc("mul_1"("Mul"))
  %2 = arith.addf %one, %1 : tensor<8xf32> loc("add"("Add"))
  %3 = arith.mulf %root, %x : tensor<8xf32> loc("mul_2"("Mul"))
  %4 = arith.mulf %3, %2 : tensor<8xf32> loc("mul_3"("Mul"))
  %5 = math.tanh %4 : tensor<8xf32> loc("tanh"("Tanh"))
  %6 = arith.addf %one, %5 : tensor<8xf32> loc("add_1"("Add"))
  %7 = arith.mulf %x, %6 : tensor<8xf32> loc("mul_4"("Mul"))
  %8 = arith.mulf %7, %half : tensor<8xf32> loc("last"("Mul"))
  return %8, %0 : tensor<8xf32>, tensor<8xf32>
}

// -----

// As opsets without Gelu have the exact one; x is a product itself.
// CHECK-LABEL: func.func @erf_form
// CHECK: arith.mulf {{.*}} loc("scale"("Mul"))
// CHECK: arith.divf {{.*}} loc("last"("Gelu"))
// CHECK: math.erf {{.*}} loc("last"("Gelu"))
// REMARK: [Passed] gelu {{.*}}"by erf"
func.func @erf_form(%in: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %root = arith.constant dense<1.41421354> : tensor<8xf32>
  %x = arith.mulf %in, %s : tensor<8xf32> loc("scale"("Mul"))
  %0 = arith.divf %x, %root : tensor<8xf32> loc("div"("Div"))
  %1 = math.erf %0 : tensor<8xf32> loc("erf"("Erf"))
  %2 = arith.addf %1, %one : tensor<8xf32> loc("add"("Add"))
  %3 = arith.mulf %x, %2 : tensor<8xf32> loc("mul"("Mul"))
  %4 = arith.mulf %3, %half : tensor<8xf32> loc("last"("Mul"))
  return %4 : tensor<8xf32>
}

// -----

// Another constant, another argument, another sum: no GELU.
// CHECK-LABEL: func.func @none
// CHECK-NOT: "Gelu"
// REMARK-NOT: Passed
func.func @none(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %two = arith.constant dense<2.0> : tensor<8xf32>
  %root = arith.constant dense<0.70710678> : tensor<8xf32>
  %0 = arith.mulf %x, %half : tensor<8xf32> loc("a"("Mul"))
  %1 = math.erf %0 : tensor<8xf32> loc("b"("Erf"))
  %2 = arith.addf %1, %one : tensor<8xf32> loc("c"("Add"))
  %3 = arith.mulf %0, %2 : tensor<8xf32> loc("d"("Mul"))
  %4 = arith.mulf %y, %root : tensor<8xf32> loc("e"("Mul"))
  %5 = math.erf %4 : tensor<8xf32> loc("f"("Erf"))
  %6 = arith.addf %5, %one : tensor<8xf32> loc("g"("Add"))
  %7 = arith.mulf %0, %6 : tensor<8xf32> loc("h"("Mul"))
  %8 = math.tanh %4 : tensor<8xf32> loc("i"("Tanh"))
  %9 = arith.addf %8, %two : tensor<8xf32> loc("j"("Add"))
  %10 = arith.mulf %0, %9 : tensor<8xf32> loc("k"("Mul"))
  return %3, %7, %10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
