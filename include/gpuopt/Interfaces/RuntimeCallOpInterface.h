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

/// What half precision means for a call. Its other floating-point operands
/// have the type of its result, but for those that it says to keep theirs.
enum class PrecisionRole {
  /// It multiplies its factors on matrix units, which are faster in half
  /// precision: their type is chosen, and the results have it too.
  Product,
  /// The same, but of factors in half precision the result can be f32 as well.
  WideningProduct,
  /// All of its floating-point tensors have one type, whichever.
  Uniform,
  /// It adds many values up: operands may be in half precision, results not.
  Accumulation,
};

} // namespace gpuopt

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h.inc"

namespace gpuopt {

/// Whether `op` is a call that multiplies: a product of either kind.
bool isProduct(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_RUNTIMECALLOPINTERFACE_H
