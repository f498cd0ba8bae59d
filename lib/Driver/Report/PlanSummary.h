//===- PlanSummary.h - A plan for the terminal, and as JSON -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PLANSUMMARY_H
#define GPUOPT_LIB_DRIVER_REPORT_PLANSUMMARY_H

#include "Report/PlanReport.h"
#include "gpuopt/Driver/Driver.h"

namespace gpuopt {

/// The results of `gpuopt plan`.
struct PlanSummary {
  Planned planned;
  std::optional<LargestBatch> largestBatch;
  std::vector<BudgetPoint> curve;

  /// Prints the plan that was made with these options.
  void print(const DriverOptions &options, llvm::raw_ostream &os) const;
  llvm::json::Object toJson(const DriverOptions &options) const;
};

/// Prints the memory of a program, what its budget costs, and the time of a
/// step. With `namesBatch`, the batch is one that was looked for.
void printHeadline(const DriverOptions &options, const Planned &planned,
                   bool namesBatch, llvm::raw_ostream &os);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_PLANSUMMARY_H
