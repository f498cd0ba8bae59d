//===- Precision.h - From choice to casts -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PRECISION_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PRECISION_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt::train {

/// Gives the ops of a step the types that these attributes say, with the casts
/// that this takes, and removes the attributes. Reads of parameters in half
/// precision are of `parameter`.half, which is the caller's to add: the
/// parameters are put into `copied`.
void insertCasts(StepOp step, mlir::FloatType halfType,
                 llvm::SetVector<mlir::StringAttr> &copied);

/// The name of a parameter's copy in half precision: that it has, or will have.
/// Without a module, for a step that nobody will see, what comes to mind.
std::string halfCopyName(mlir::ModuleOp module, llvm::StringRef parameter);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PRECISION_H
