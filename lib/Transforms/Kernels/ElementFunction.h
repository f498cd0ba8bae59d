//===- ElementFunction.h - What a kernel does to an element -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_KERNELS_ELEMENTFUNCTION_H
#define GPUOPT_LIB_TRANSFORMS_KERNELS_ELEMENTFUNCTION_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gpuopt {

/// An element of each argument of a kernel's body.
using ElementsOfArguments = llvm::DenseMap<mlir::Value, double>;

/// Returns what a value in a kernel's body is for these elements of the
/// arguments, computed in f64. Returns nothing if it depends on an argument
/// that has none, or on an op that is neither arithmetic, tanh, exp, a splat
/// constant, a broadcast nor a conversion between floating-point types.
std::optional<double> evaluate(mlir::Value value,
                               const ElementsOfArguments &arguments);

/// The approximate form of GELU, which libraries have, and its derivative.
double approximateGelu(double x);
double approximateGeluDerivative(double x);

} // namespace gpuopt

#endif // GPUOPT_LIB_TRANSFORMS_KERNELS_ELEMENTFUNCTION_H
