//===- RuntimeCallOpInterface.h - Ops that are calls ------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_H
#define GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_H

#include "gpuopt/Interfaces/RuntimeCall.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace gpuopt {

/// How the operands of a call lie in memory, and where its results go.
struct CallLayouts {
  llvm::SmallVector<StridedView> operands, results;

  bool areDense() const;
};

/// How a call behaves in half precision. Unless the role says otherwise, its
/// floating-point operands have the type of its result; the op lists those that
/// keep their own type.
enum class PrecisionRole {
  /// The call multiplies its factors on matrix units, which are faster in half
  /// precision. The type of the factors is chosen, and the results have the
  /// same type.
  Product,
  /// The same, except that the result of factors in half precision may also be
  /// f32.
  WideningProduct,
  /// All floating-point tensors of the call have one type, whichever it is.
  Uniform,
  /// The call adds up many values: its operands may be in half precision, its
  /// results may not.
  Accumulation,
};

} // namespace gpuopt

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h.inc"

namespace gpuopt {

/// Whether `op` is a product of either kind.
bool isProduct(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_H
