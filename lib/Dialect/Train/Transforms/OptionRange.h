//===- OptionRange.h - Numbers that options of passes can have --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Checks numbers in the options of passes. A value that makes no sense is an
// error, and never stands for the default.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OPTIONRANGE_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OPTIONRANGE_H

#include "mlir/IR/BuiltinOps.h"

namespace gpuopt::train {

/// Options by name, with their values.
using NamedNumbers = std::initializer_list<std::pair<llvm::StringRef, double>>;

inline mlir::LogicalResult expectAtLeast(mlir::ModuleOp module, double least,
                                         NamedNumbers options) {
  for (auto [name, value] : options)
    if (!(value >= least)) // nor NaN
      return module.emitError("expects ")
             << name << " to be at least " << (int64_t)least << ", but got "
             << value;
  return mlir::success();
}

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_OPTIONRANGE_H
