//===- Orthogonalize.cpp - A nearly orthogonal matrix by products ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/Orthogonalize.h"

using namespace mlir;
using namespace gpuopt;
using nn::TensorBuilder;

/// The coefficients have the steepest slope at 0 that keeps singular values
/// near 1; these and the other numbers are the defaults of torch.optim.Muon.
static constexpr double kA = 3.4445, kB = -4.7750, kC = 2.0315;
static constexpr double kLeastNorm = 1e-7;
static constexpr int kSteps = 5;

/// Divides a matrix by its Frobenius norm, so that no singular value is
/// above 1.
static Value normalize(TensorBuilder &b, Value x) {
  Value square = b.sum(b.mul(x, x), {0, 1});
  Value norm = b.createOrFold<math::SqrtOp>(square);
  Value least = b.splat(kLeastNorm, TensorBuilder::type(norm));
  return b.div(x, b.createOrFold<arith::MaximumFOp>(norm, least));
}

Value train::orthogonalize(TensorBuilder &b, Value matrix) {
  Value x = normalize(b, matrix);
  bool isTall = TensorBuilder::shape(x)[0] > TensorBuilder::shape(x)[1];
  auto multiply = [&](StringRef spec, Value lhs, Value rhs) -> Value {
    return b.create<nn::ContractOp>(spec, lhs, rhs);
  };
  for (int step = 0; step < kSteps; ++step) {
    Value s = multiply(isTall ? "ki,kj->ij" : "ik,jk->ij", x, x);
    Value polynomial =
        b.add(b.mul(s, kB), b.mul(multiply("ik,kj->ij", s, s), kC));
    Value product = isTall ? multiply("ik,kj->ij", x, polynomial)
                           : multiply("ik,kj->ij", polynomial, x);
    x = b.add(b.mul(x, kA), product);
  }
  return x;
}
