//===- Steps.h - The steps that a pass checks -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PIPELINES_STEPS_H
#define GPUOPT_LIB_PIPELINES_STEPS_H

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace gpuopt {

/// Returns the steps of a module, which the pass that ends a phase checks.
/// Warns if there are none: text that was meant to be checked may be that of
/// another phase, or lie in a module of its own.
inline llvm::SmallVector<train::StepOp> stepsToVerify(mlir::ModuleOp module,
                                                      llvm::StringRef phase) {
  llvm::SmallVector<train::StepOp> steps(module.getOps<train::StepOp>());
  if (steps.empty())
    module.emitWarning("has no 'train.step', so verify-")
        << phase << " has nothing to check; gpuopt-to-" << phase
        << " makes the steps of an imported model";
  return steps;
}

} // namespace gpuopt

#endif // GPUOPT_LIB_PIPELINES_STEPS_H
