//===- PrecisionRules.h - What must not be in half precision ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_ANALYSIS_PRECISIONRULES_H
#define GPUOPT_LIB_ANALYSIS_PRECISIONRULES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/StringRef.h"

namespace gpuopt {

/// Returns what a kernel computes for one of its results, before any rounding
/// at the yield; for another op, the result itself.
mlir::Value writtenValue(mlir::OpResult result);

/// Returns why the memory that `result` owns must stay in f32 whatever the
/// policy says; empty if it need not.
llvm::StringRef reasonForFull(mlir::OpResult result, mlir::FloatType halfType);

} // namespace gpuopt

#endif // GPUOPT_LIB_ANALYSIS_PRECISIONRULES_H
