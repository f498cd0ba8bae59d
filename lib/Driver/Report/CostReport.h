//===- CostReport.h - How long a step takes, and by which times -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H
#define GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H

#include "gpuopt/Analysis/StepEstimate.h"
#include "gpuopt/Driver/Driver.h"
#include "llvm/Support/JSON.h"

namespace gpuopt {

/// What the times of a plan rest on.
struct CostReport {
  StepEstimate step;
  std::string file;   ///< --profile-costs; empty if nothing was measured.
  std::string model;  ///< The model that was measured.
  std::string device; ///< What was measured, in its own words.
  std::string table;  ///< Whose rates the other times follow from.

  double measuredPercent() const;
  /// What the times are of: the device that was measured, or the table's name.
  std::string place() const;
  /// "312 of 320 ops are measured on ..., 98.3 % of the estimated time; ..."
  std::string describe() const;
  /// Where most of the time was not measured: what the file may be of. Empty
  /// where there is nothing to warn of.
  std::string warning() const;
};

/// Reports the costs of a module with formed kernels. Fails where the file of
/// --profile-costs is that of another program.
llvm::Expected<CostReport> reportCosts(const DriverOptions &options,
                                       mlir::ModuleOp module);

llvm::json::Object toJson(const CostReport &report);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_COSTREPORT_H
