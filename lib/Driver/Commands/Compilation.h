//===- Compilation.h - A model on its way through the phases ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_COMMANDS_COMPILATION_H
#define GPUOPT_LIB_DRIVER_COMMANDS_COMPILATION_H

#include "Report/CostReport.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace gpuopt {

/// One model with one set of options.
class Compilation {
public:
  /// Errors and warnings are printed, or kept in `diagnostics` alone.
  explicit Compilation(const DriverOptions &options, bool isQuiet = false);

  /// Imports the model and runs the phases up to `last`, one after the other;
  /// goes on from where the last call stopped. Phases are dumped where the
  /// options say so.
  mlir::LogicalResult runTo(Phase last);

  mlir::ModuleOp getModule() { return *module; }
  /// After a failure: 2 where a memory budget cannot be met, else 1.
  int exitStatus() const;
  /// What is known of a budget that cannot be met (`train.unmet_budget`), after
  /// such a failure; null after any other.
  train::UnmetBudgetAttr unmetBudget() const;
  const std::string &getDiagnostics() const { return diagnostics; }
  /// What is in half precision in the training step, and what that saves; empty
  /// where nothing was to be chosen. After the phase of that name.
  std::string describePrecision() const;
  /// What the times of the schedule rest on. After the phase Precision.
  const CostReport &getCosts() const { return costs; }

private:
  mlir::LogicalResult run(Phase phase);
  mlir::LogicalResult checkFrozenParams();
  mlir::LogicalResult takeCosts();
  mlir::LogicalResult dump(Phase phase);
  void report(const llvm::Twine &error);

  const DriverOptions &options;
  bool isQuiet;
  std::string diagnostics;
  std::string graphName; ///< In the file.
  CostReport costs;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int phasesDone = 0;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_COMPILATION_H
