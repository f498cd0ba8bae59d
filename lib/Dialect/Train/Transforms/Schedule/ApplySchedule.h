//===- ApplySchedule.h - Puts repeated work into a step ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H

#include "gpuopt/Analysis/Memory/StepGraph.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

namespace gpuopt::train {

/// An op that runs again, or a train.reload, as applySchedule inserts it.
struct Repeat {
  mlir::Operation *op;  ///< The new op.
  mlir::Value original; ///< The value that it restores.
  double costInNanoseconds;
  /// For a reload, the time that running the op again would take instead.
  double recomputeInNanoseconds = 0;
};

/// Inserts what `schedule` repeats and reloads into the step of `graph`, where
/// it says so, and lets each op read the latest execution of its operands.
/// Copies to the host begin where their tensors are made and are awaited after
/// the last op that reads them; copies back begin, and are awaited, where the
/// schedule has them. Nothing may merge equal ops of the step until the repeats
/// are wrapped.
std::vector<Repeat> applySchedule(const StepGraph &graph,
                                  const planning::Schedule &schedule);

/// Puts a repeat into a train.recompute of its own.
RecomputeOp wrapRepeat(mlir::Operation *op, llvm::StringRef reason);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_APPLYSCHEDULE_H
