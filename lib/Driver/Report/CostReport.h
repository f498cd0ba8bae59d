//===- CostReport.h - How long a step takes, and by which times -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H
#define GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H

#include "gpuopt/Analysis/Costs/StepEstimate.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/Support/JSON.h"

namespace gpuopt {

/// The sources of the times of a plan.
struct CostReport {
  StepEstimate step;
  /// The same of the program that would be compiled without a budget; it may
  /// have other kernels and precisions.
  StepEstimate withoutBudget;
  std::string file;   ///< That of --profile-costs; empty without it.
  std::string model;  ///< The model that was measured.
  std::string device; ///< What the measured device calls itself.
  std::string table;  ///< The device whose rates give the other times.

  double measuredPercent() const;
  /// Returns the device whose times are used: the one that was measured or,
  /// without a file, the one that the table names.
  std::string place() const;
  /// Returns "312 of 320 ops are measured on ..., 98.3 % of the estimated time;
  /// ...".
  std::string describe() const;
  /// Returns a warning if most of the time was not measured, since the file may
  /// be that of another program; else nothing.
  std::string warning() const;
};

/// Reports the costs of a module whose kernels are formed. Fails if the file of
/// --profile-costs is that of another program.
llvm::Expected<CostReport> reportCosts(const DriverOptions &options,
                                       mlir::ModuleOp module);

llvm::json::Object toJson(const CostReport &report);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H
