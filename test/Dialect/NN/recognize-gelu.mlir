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

// -----

// The cube is returned too, so neither it nor the square is the GELU's.
// CHECK-LABEL: func.func @cube_is_read
// CHECK: arith.mulf {{.*}} loc("square"("Mul"))
// CHECK: arith.mulf {{.*}} loc("cube"("Mul"))
// CHECK: arith.mulf {{.*}} loc("last"("Gelu"))
// REMARK: [Passed] gelu {{.*}}"by tanh"
func.func @cube_is_read(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %cubic = arith.constant dense<0.044715> : tensor<8xf32>
  %root = arith.constant dense<0.7978845608> : tensor<8xf32>
  %0 = arith.mulf %x, %x : tensor<8xf32> loc("square"("Mul"))
  %1 = arith.mulf %0, %x : tensor<8xf32> loc("cube"("Mul"))
  %2 = arith.mulf %1, %cubic : tensor<8xf32> loc("term"("Mul"))
  %3 = arith.addf %x, %2 : tensor<8xf32> loc("sum"("Add"))
  %4 = arith.mulf %3, %root : tensor<8xf32> loc("argument"("Mul"))
  %5 = math.tanh %4 : tensor<8xf32> loc("tanh"("Tanh"))
  %6 = arith.addf %5, %one : tensor<8xf32> loc("add"("Add"))
  %7 = arith.mulf %x, %6 : tensor<8xf32> loc("mul"("Mul"))
  %8 = arith.mulf %7, %half : tensor<8xf32> loc("last"("Mul"))
  return %8, %1 : tensor<8xf32>, tensor<8xf32>
}

// -----

// Sums of sums have 2^40 summands; none is looked at.
// CHECK-LABEL: func.func @sums_of_sums
// CHECK-NOT: "Gelu"
func.func @sums_of_sums(%x: tensor<8xf32>) -> tensor<8xf32> {
  %half = arith.constant dense<0.5> : tensor<8xf32>
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %root = arith.constant dense<0.7978845608> : tensor<8xf32>
  %s0 = arith.addf %x, %x : tensor<8xf32>
  %s1 = arith.addf %s0, %s0 : tensor<8xf32>
  %s2 = arith.addf %s1, %s1 : tensor<8xf32>
  %s3 = arith.addf %s2, %s2 : tensor<8xf32>
  %s4 = arith.addf %s3, %s3 : tensor<8xf32>
  %s5 = arith.addf %s4, %s4 : tensor<8xf32>
  %s6 = arith.addf %s5, %s5 : tensor<8xf32>
  %s7 = arith.addf %s6, %s6 : tensor<8xf32>
  %s8 = arith.addf %s7, %s7 : tensor<8xf32>
  %s9 = arith.addf %s8, %s8 : tensor<8xf32>
  %s10 = arith.addf %s9, %s9 : tensor<8xf32>
  %s11 = arith.addf %s10, %s10 : tensor<8xf32>
  %s12 = arith.addf %s11, %s11 : tensor<8xf32>
  %s13 = arith.addf %s12, %s12 : tensor<8xf32>
  %s14 = arith.addf %s13, %s13 : tensor<8xf32>
  %s15 = arith.addf %s14, %s14 : tensor<8xf32>
  %s16 = arith.addf %s15, %s15 : tensor<8xf32>
  %s17 = arith.addf %s16, %s16 : tensor<8xf32>
  %s18 = arith.addf %s17, %s17 : tensor<8xf32>
  %s19 = arith.addf %s18, %s18 : tensor<8xf32>
  %s20 = arith.addf %s19, %s19 : tensor<8xf32>
  %s21 = arith.addf %s20, %s20 : tensor<8xf32>
  %s22 = arith.addf %s21, %s21 : tensor<8xf32>
  %s23 = arith.addf %s22, %s22 : tensor<8xf32>
  %s24 = arith.addf %s23, %s23 : tensor<8xf32>
  %s25 = arith.addf %s24, %s24 : tensor<8xf32>
  %s26 = arith.addf %s25, %s25 : tensor<8xf32>
  %s27 = arith.addf %s26, %s26 : tensor<8xf32>
  %s28 = arith.addf %s27, %s27 : tensor<8xf32>
  %s29 = arith.addf %s28, %s28 : tensor<8xf32>
  %s30 = arith.addf %s29, %s29 : tensor<8xf32>
  %s31 = arith.addf %s30, %s30 : tensor<8xf32>
  %s32 = arith.addf %s31, %s31 : tensor<8xf32>
  %s33 = arith.addf %s32, %s32 : tensor<8xf32>
  %s34 = arith.addf %s33, %s33 : tensor<8xf32>
  %s35 = arith.addf %s34, %s34 : tensor<8xf32>
  %s36 = arith.addf %s35, %s35 : tensor<8xf32>
  %s37 = arith.addf %s36, %s36 : tensor<8xf32>
  %s38 = arith.addf %s37, %s37 : tensor<8xf32>
  %s39 = arith.addf %s38, %s38 : tensor<8xf32>
  %0 = arith.mulf %s39, %root : tensor<8xf32>
  %1 = math.tanh %0 : tensor<8xf32>
  %2 = arith.addf %1, %one : tensor<8xf32>
  %3 = arith.mulf %x, %2 : tensor<8xf32>
  %4 = arith.mulf %3, %half : tensor<8xf32>
  return %4 : tensor<8xf32>
}
