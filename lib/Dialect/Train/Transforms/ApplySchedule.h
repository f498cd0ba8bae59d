//===- ApplySchedule.h - Puts repeated work into a step ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H

#include "gpuopt/Analysis/StepGraph.h"
#include "gpuopt/Planning/Schedule.h"

namespace gpuopt::train {

/// Work that runs again, after applySchedule.
struct Repeat {
  mlir::Operation *op;  ///< The new one.
  mlir::Value original; ///< The result that it gives once more.
  double costInNanoseconds;
};

/// Inserts what `schedule` repeats into the step of `graph`, where it says so,
/// and lets each op read the latest execution of its operands. Nothing may
/// merge equal ops of the step until the repeats are wrapped.
std::vector<Repeat> applySchedule(const StepGraph &graph,
                                  const planning::Schedule &schedule);

/// Puts a repeat into a train.recompute of its own.
RecomputeOp wrapRepeat(mlir::Operation *op, llvm::StringRef reason);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H
