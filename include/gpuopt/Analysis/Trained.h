//===- Trained.h - What a gradient flows to ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_TRAINED_H
#define GPUOPT_ANALYSIS_TRAINED_H

#include "mlir/IR/Value.h"

namespace gpuopt {

/// Whether a value depends on trained parameters through floating-point values
/// alone.
bool isTrained(mlir::Value value);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_TRAINED_H
