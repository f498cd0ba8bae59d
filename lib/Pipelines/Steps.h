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

/// Warns that the pass that ends a phase has no step to check: text that was
/// meant to be checked may be that of another phase, or lie in a module of its
/// own.
inline void warnOfNoSteps(mlir::ModuleOp module, llvm::StringRef phase) {
  module.emitWarning("has no 'train.step', so verify-")
      << phase << " has nothing to check; gpuopt-to-" << phase
      << " makes the steps of an imported model";
}

/// Returns the steps of a module, which the pass that ends a phase checks, and
/// warns if there are none.
inline llvm::SmallVector<train::StepOp> stepsToVerify(mlir::ModuleOp module,
                                                      llvm::StringRef phase) {
  llvm::SmallVector<train::StepOp> steps(module.getOps<train::StepOp>());
  if (steps.empty())
    warnOfNoSteps(module, phase);
  return steps;
}

} // namespace gpuopt

#endif // GPUOPT_LIB_PIPELINES_STEPS_H
