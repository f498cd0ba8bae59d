//===- StepEstimate.h - How long a program's step takes ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_STEPESTIMATE_H
#define GPUOPT_ANALYSIS_STEPESTIMATE_H

#include "gpuopt/Analysis/DeviceModel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace gpuopt {

/// What one training step takes without a budget: all of its micro steps, and
/// the update.
struct StepEstimate {
  double nanoseconds = 0;
  double measuredNanoseconds = 0; ///< Of ops whose time was measured.
  /// By the device's rates alone: of all ops, and of those that were measured.
  double ratedNanoseconds = 0, ratedMeasuredNanoseconds = 0;
  int64_t ops = 0, measuredOps = 0; ///< That do work, in the program.
  /// The time of one run of each `train.step`, by its name.
  llvm::StringMap<double> nanosecondsOfRuns;
};

/// `module` has formed kernels, and casts where it needs them.
StepEstimate estimateStep(mlir::ModuleOp module, const DeviceModel &device,
                          int64_t accumulationSteps);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_STEPESTIMATE_H
