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

/// The compilation of one model with one set of options.
class Compilation {
public:
  /// Prints errors and warnings or, if `isSilent`, only keeps them in
  /// `diagnostics`.
  explicit Compilation(const DriverOptions &options, bool isSilent = false);

  /// Imports the model and runs the phases up to `last`, one after the other;
  /// continues where the last call stopped. Dumps phases where the options say
  /// so.
  mlir::LogicalResult runTo(Phase last);

  /// Returns what tells the model from others, once it is imported.
  llvm::StringRef getModelHash() const { return modelHash; }
  /// Returns the same without the sizes of its inputs; empty if some of these
  /// are constants by --constant-input.
  llvm::StringRef getGraphHash() const { return graphHash; }
  mlir::ModuleOp getModule() { return *module; }
  /// Returns, after a failure, 2 if a memory budget cannot be met and else 1.
  int exitStatus() const;
  /// Returns what is known of a budget that cannot be met
  /// (`train.unmet_budget`), after such a failure; null after any other.
  train::UnmetBudgetAttr unmetBudget() const;
  const std::string &getDiagnostics() const { return diagnostics; }
  /// Describes what is in half precision in the training step, and what that
  /// saves; empty if there was nothing to choose. Call it after the phase
  /// Precision.
  std::string describePrecision() const;
  /// Returns what the times of the schedule are based on. Call it after the
  /// phase Precision.
  const CostReport &getCosts() const { return costs; }

private:
  mlir::LogicalResult run(Phase phase);
  /// Hashes the module as it was imported. Of its constants, those are weights
  /// that a file of weights has or that are variables of the module by now.
  void takeHashes(mlir::ModuleOp imported);
  /// Checks that a flag with a regular expression matches a parameter.
  mlir::LogicalResult checkParams(llvm::StringRef flag, llvm::StringRef names);
  mlir::LogicalResult takeCosts();
  mlir::LogicalResult dump(Phase phase);
  /// Says where a budget that cannot be met comes from, if gpuopt chose it.
  void explainBudget();
  void report(const llvm::Twine &error);

  const DriverOptions &options;
  /// The options of all before the schedule, and of all from it on. They share
  /// the plans of schedules, of which some are made to choose kernels.
  PipelineOptions kernelOptions, scheduleOptions;
  bool isSilent;
  std::string diagnostics;
  std::string graphName; ///< As the file has it.
  std::string modelHash, graphHash;
  std::optional<StepEstimate> stepWithoutBudget; ///< If it has other kernels.
  CostReport costs;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  int phasesDone = 0;
};

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_COMMANDS_COMPILATION_H
