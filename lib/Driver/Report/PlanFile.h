//===- PlanFile.h - What plan.json says beside the memory -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PLANFILE_H
#define GPUOPT_LIB_DRIVER_REPORT_PLANFILE_H

#include "Report/PlanReport.h"
#include "gpuopt/Analysis/Precision/PrecisionReasons.h"

namespace gpuopt {

/// What the compiler chose beside places in memory, and why.
struct PlanChoices {
  std::vector<TensorDecision> decisions;
  std::string precision; ///< What is in half precision, for people.
  std::vector<PrecisionReason> precisions; ///< Empty if all is in fp32.
};

/// Explains the precisions of a module that has passed the phase `precision`;
/// without a half type, there is nothing to explain.
std::vector<PrecisionReason>
describePrecisions(const train::AssignPrecisionOptions &options,
                   mlir::ModuleOp module);

/// Returns the text of plan.json with the model, the command line and the
/// choices added to it.
std::string completePlan(llvm::StringRef plan, const DriverOptions &options,
                         const PlanChoices &choices);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_PLANFILE_H
