//===- HiddenScores.h - Numbers that hide keys of attention -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_HIDDENSCORES_H
#define GPUOPT_DIALECT_NN_IR_HIDDENSCORES_H

#include "llvm/ADT/APFloat.h"

namespace gpuopt::nn {

/// A score this low hides its key beside one that is not hidden: no model
/// computes a score like it, and its exponential is 0 in f32.
inline constexpr double kHiddenScore = -1e9;

inline double toDouble(llvm::APFloat number) {
  bool isLossy;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &isLossy);
  return number.convertToDouble();
}

/// Whether a score that is replaced by the number, or to which it is added, is
/// hidden.
inline bool hidesKeys(const llvm::APFloat &number) {
  return toDouble(number) <= kHiddenScore;
}

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_HIDDENSCORES_H
