//===- LeastValues.h - How small values can be ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A GPU divides in two instructions if the divisor is known not to be zero or
// nearly so, and in fifteen otherwise. Denominators of sigmoids, softmaxes and
// norms are known to be no smaller than something.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_LEASTVALUES_H
#define GPUOPT_ANALYSIS_KERNELS_LEASTVALUES_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gpuopt {

/// Returns a number that no element of `value`, a tensor of floats in the body
/// of a kernel, is smaller than; minus infinity if nothing is known. Elements
/// may be NaN or infinite. Bounds hold up to what functions round.
double leastValueOf(mlir::Value value);

/// Whether the divisor is in f32 or half precision and at least 2^-100.
bool dividesByNormalNumber(mlir::arith::DivFOp op);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_LEASTVALUES_H
