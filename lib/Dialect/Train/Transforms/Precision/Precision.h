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

/// Gives the ops of a step the types that these attributes ask for, inserts the
/// casts that this needs, and removes the attributes. Parameters in half
/// precision are read from variables `parameter`.half; the parameters are added
/// to `copied`, and the caller adds the variables.
void insertCasts(StepOp step, mlir::FloatType halfType,
                 llvm::SetVector<mlir::StringAttr> &copied);

/// Returns the name of a parameter's copy in half precision, which may not
/// exist yet. A step without a module is only tried out, so any name will do.
std::string halfCopyName(mlir::ModuleOp module, llvm::StringRef parameter);

/// Returns whether a training needs a weight in half precision alone if nothing
/// reads it in f32: it is frozen, and its file has it when it is saved.
/// Products read rows that lie apart by whole vectors; kernels-pad-rows moves
/// other ones apart as it casts the master.
bool needsNoMaster(VariableOp weight);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_PRECISION_H
