//===- PlanReport.h - What a program allocates, and for what ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DRIVER_REPORT_PLANREPORT_H
#define GPUOPT_LIB_DRIVER_REPORT_PLANREPORT_H

#include "Report/CostReport.h"
#include "Report/KernelReport.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace gpuopt {

enum class Fate { Saved, Recomputed, Offloaded };
llvm::StringRef nameOf(Fate fate);

/// What became of a result of the forward that the backward reads.
struct TensorDecision {
  TensorName tensor;
  int64_t bytes = 0;
  Fate fate = Fate::Saved;
  std::string reason;
};

/// Saved, recomputed and offloaded tensors of the training step, of a module
/// after the phase `schedule`.
std::vector<TensorDecision> describeDecisions(mlir::ModuleOp module);

struct LiveTensor {
  TensorName name;
  int64_t bytes = 0;
  std::string buffer = ""; ///< In plan.json; may be empty.
};

/// All bytes but those of the host are those of the one allocation.
struct MemoryReport {
  int64_t totalBytes = 0, arenaBytes = 0, persistentBytes = 0;
  int64_t hostBytes = 0; ///< Where offloaded tensors wait.
  /// The persistent part: parameters, gradients (of accumulation), optimizer
  /// state, buffers, inputs, outputs, constants, scalars and padding.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// What each of the optimizers would keep, without states that depend on a
  /// hyperparameter; empty where the program has no optimizer.
  std::vector<std::pair<std::string, int64_t>> optimizers;
  /// The name of the step with the highest arena.
  std::string step;
  int64_t plainArenaBytes = 0;
  double plainMilliseconds = 0, addedPercent = 0, lowerBoundPercent = 0;
  /// To and from the host, and how long the step's work waits for it.
  int64_t transferBytes = 0;
  double transferMilliseconds = 0, transferWaitMilliseconds = 0;
  /// Where most bytes of the arena are alive: the time point, in ops of the
  /// step, the tensor that is made there, and the tensors, the largest first.
  int64_t peakTimePoint = 0;
  std::string peakOrigin;
  std::vector<LiveTensor> alive;
};

/// Describes the memory of a module after the phase `device`.
MemoryReport describeMemory(mlir::ModuleOp module);

/// Why a budget cannot be met.
struct UnmetReport {
  /// That can be met, and below which none can.
  int64_t smallestBytes = 0, lowerLimitBytes = 0;
  /// As in MemoryReport.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// Where the limit is reached, and what is alive there, the largest first.
  std::string peakOrigin;
  std::vector<LiveTensor> alive;
};

/// `unmet` is the attribute `train.unmet_budget`, or null.
UnmetReport describeUnmet(train::UnmetBudgetAttr unmet);

/// A compilation up to the device program.
struct Planned {
  int status = 0;          ///< The exit status: 0 if there is a plan.
  std::string diagnostics; ///< Errors and warnings, for people.
  UnmetReport unmet;       ///< Where the status is 2.
  MemoryReport memory;
  std::vector<TensorDecision> decisions;
  std::string precision; ///< What is in half precision, for people.
  CostReport costs;
  KernelReport kernels; ///< Empty unless it was asked for.
  int64_t accumulationSteps = 1;

  /// Estimated, of one step under the budget.
  double stepMilliseconds() const;
};

/// What a budget costs.
struct BudgetPoint {
  int64_t budgetInBytes = 0, totalInBytes = 0;
  double addedPercent = 0, lowerBoundPercent = 0;
};

/// The largest batch within a budget; 0 where not even one sample is.
struct LargestBatch {
  int64_t size = 0;
  double addedPercent = 0, millisecondsPerSample = 0;
};

llvm::json::Object toJson(const LiveTensor &tensor);
llvm::json::Object toJson(const UnmetReport &report);
llvm::json::Object toJson(const MemoryReport &report);
llvm::json::Array toJson(const std::vector<TensorDecision> &decisions);

} // namespace gpuopt

#endif // GPUOPT_LIB_DRIVER_REPORT_PLANREPORT_H
