//===- StepEstimate.h - How long a program's step takes ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_STEPESTIMATE_H
#define GPUOPT_ANALYSIS_COSTS_STEPESTIMATE_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace gpuopt {

/// How long one training step takes in which nothing is computed again, with
/// all of its micro steps and the update.
struct StepEstimate {
  double nanoseconds = 0;
  double measuredNanoseconds = 0; ///< Ops whose time was measured.
  /// The times that the device's rates alone would give: of all ops, and of the
  /// ops that were measured.
  double ratedNanoseconds = 0, ratedMeasuredNanoseconds = 0;
  int64_t ops = 0, measuredOps = 0; ///< Ops of the program that do work.
  /// The time of one run of each `train.step`, by its name.
  llvm::StringMap<double> nanosecondsOfRuns;
};

/// Estimates the step of a module whose kernels are formed and whose casts are
/// inserted.
StepEstimate estimateStep(mlir::ModuleOp module, const DeviceModel &device,
                          int64_t accumulationSteps);

/// Returns what a training step takes in addition, in nanoseconds, for what the
/// schedules of a module compute again or reload, in all of its micro steps and
/// in the update.
double nanosecondsOfRepeats(mlir::ModuleOp scheduled,
                            int64_t accumulationSteps);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_STEPESTIMATE_H
