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
#include "Report/MemoryTimeline.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"
#include <string>
#include <vector>

namespace gpuopt {

enum class Fate { Saved, Recomputed, Offloaded };
llvm::StringRef nameOf(Fate fate);

/// The fate of a result of the forward that the backward reads.
struct TensorDecision {
  TensorName tensor;
  int64_t bytes = 0;
  Fate fate = Fate::Saved;
  std::string reason;
};

/// Describes the saved, recomputed and offloaded tensors of the training step.
/// The module has passed the phase `schedule`.
std::vector<TensorDecision> describeDecisions(mlir::ModuleOp module);

struct LiveTensor {
  TensorName name;
  int64_t bytes = 0;
  std::string buffer = ""; ///< Its name in plan.json; may be empty.
};

/// The memory of a program. All bytes but `hostBytes` are in its one
/// allocation.
struct MemoryReport {
  int64_t totalBytes = 0, arenaBytes = 0, persistentBytes = 0;
  int64_t hostBytes = 0; ///< For tensors that are offloaded.
  /// The parts of persistent memory: parameters, gradients (with accumulation),
  /// optimizer state, buffers, inputs, outputs, constants, scalars and padding.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// The bytes that each optimizer would keep, without states that depend on a
  /// hyperparameter; empty if the program has no optimizer.
  std::vector<std::pair<std::string, int64_t>> optimizers;
  /// The name of the step with the highest arena.
  std::string step;
  int64_t plainArenaBytes = 0;
  /// The time of one run of that step in the program without a budget. The
  /// percents are of it: what the budget adds, with other kernels and
  /// precisions; what is computed again or reloaded, a part of that; and what
  /// any schedule of these kernels computes again or reloads at least.
  double plainMilliseconds = 0;
  double addedPercent = 0, recomputePercent = 0, lowerBoundPercent = 0;
  /// The bytes that are copied to and from the host, the time of the copies,
  /// and the part of it for which the step waits.
  int64_t transferBytes = 0;
  double transferMilliseconds = 0, transferWaitMilliseconds = 0;
  /// The point of the step at which most bytes of the arena are alive: its
  /// number, counted in ops; the tensor that is computed there; and the tensors
  /// that are alive there, the largest first.
  int64_t peakTimePoint = 0;
  std::string peakOrigin;
  std::vector<LiveTensor> alive;
};

/// Describes the memory of a module after the phase `device`, and what the
/// budget costs.
MemoryReport describeMemory(mlir::ModuleOp module, const CostReport &costs);

/// Returns whether a share of a step's time is more than nothing as it is
/// printed, with two digits behind the point.
bool takesMoreTime(double percent);

/// Why a budget cannot be met.
struct UnmetReport {
  /// The smallest budget for which a plan was found, and the limit below which
  /// no budget can be met.
  int64_t smallestBytes = 0, lowerLimitBytes = 0;
  /// The parts of persistent memory, as in MemoryReport.
  std::vector<std::pair<std::string, int64_t>> persistent;
  /// The tensor at whose computation the limit is reached, and the tensors that
  /// are alive then, the largest first.
  std::string peakOrigin;
  std::vector<LiveTensor> alive;
  /// The sets of flags with which the program would fit, if any were found.
  std::vector<std::vector<std::string>> fittingFlags;
};

/// Describes the attribute `train.unmet_budget`, which may be null.
UnmetReport describeUnmet(train::UnmetBudgetAttr unmet);

/// The facts that a compilation up to the device program found out.
struct Planned {
  int status = 0;          ///< The exit status: 0 if there is a plan.
  std::string diagnostics; ///< Errors and warnings, for people.
  UnmetReport unmet;       ///< Filled in if the status is 2.
  MemoryReport memory;
  MemoryTimeline timeline; ///< Empty without --memory-timeline.
  std::vector<TensorDecision> decisions;
  std::string precision; ///< What is in half precision, for people.
  CostReport costs;
  KernelReport kernels; ///< Empty without --kernels.
  int64_t accumulationSteps = 1;
  /// What a step takes for what is computed again or reloaded.
  double nanosecondsOfRepeats = 0;

  /// Returns the estimated time of one step within the budget.
  double stepMilliseconds() const;
};

/// One budget, and what it costs.
struct BudgetPoint {
  int64_t budgetInBytes = 0, totalInBytes = 0;
  double addedPercent = 0, recomputePercent = 0, lowerBoundPercent = 0;
};

/// The largest batch within a budget. Its size is 0 if not even one sample
/// fits.
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
