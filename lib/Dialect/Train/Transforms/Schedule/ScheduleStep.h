//===- ScheduleStep.h - A step within a budget ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SCHEDULESTEP_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SCHEDULESTEP_H

#include "Schedule/ApplySchedule.h"
#include "gpuopt/Analysis/Costs/OffloadCost.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "mlir/IR/OwningOpRef.h"
#include <variant>

namespace gpuopt::train {

/// A step whose packed arena is within its budget.
struct ScheduledStep {
  mlir::OwningOpRef<StepOp> step; ///< Null where the step fits as it is.
  std::vector<Repeat> repeats;
  int64_t plainArenaInBytes = 0, arenaInBytes = 0;
  double plainTimeInNanoseconds = 0, addedTimeInNanoseconds = 0;
  TransferTimes transfers; ///< To and from the host.
  /// The lower bound of the problem with the budget that was asked for. It
  /// holds for every schedule whose arena is within that budget.
  double lowerBoundInNanoseconds = 0;
  /// How much the bound falls for each byte that the budget grows.
  double nanosecondsPerByte = 0;
  /// The problem, and its plan with what is proven of it, in the format of
  /// gpuopt-solve.
  std::string problemText, planText;
};

/// The reason why a step does not fit.
struct UnmetBudget {
  int64_t smallestArenaInBytes = 0; ///< The lowest arena that was found.
  /// Whether a lower one was looked for, or is proven not to be. Else a lower
  /// one may be easy to find.
  bool isSmallest = false;
  int64_t lowerLimitInBytes = 0; ///< No schedule needs less.
  /// The op of the plain order at which the limit is reached, and the tensors
  /// that one execution there needs, with their bytes, the largest first.
  std::string limitOrigin;
  std::vector<std::pair<TensorName, int64_t>> heldBytes;

  /// Makes this what a program needs that has the steps of both.
  void mergeWith(UnmetBudget other) {
    int64_t limit = std::max(lowerLimitInBytes, other.lowerLimitInBytes);
    if (other.smallestArenaInBytes > smallestArenaInBytes)
      *this = std::move(other);
    lowerLimitInBytes = limit;
  }
};

struct StepScheduleOptions {
  int64_t budgetInBytes = 0; ///< The budget of the arena.
  int64_t effort = 0;        ///< Moves of each search.
  /// If the budget is not met, find the smallest one that is. Its plan is used
  /// if it turns out to be within the budget.
  bool searchSmallest = true;
  /// The search is left out where it could save at most so much, as it does not
  /// help beside what the program keeps anyway.
  int64_t slackInBytes = 0;
  bool allowsOffload = false; ///< To the host's memory.
  /// Take the first plan within the budget, whatever it costs. This tells
  /// sooner whether there is one, but may miss it if the budget is close to the
  /// smallest possible.
  bool takesAny = false;
};

/// Schedules a clone of `step` so that its packed arena is within the budget;
/// returns why there is no such schedule otherwise.
std::variant<ScheduledStep, UnmetBudget, planning::Error>
scheduleStep(StepOp step, const DeviceModel &device,
             const StepScheduleOptions &options,
             planning::LadderStore &ladders);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SCHEDULESTEP_H
