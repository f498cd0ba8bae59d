//===- SolveRecompute.h - Plans recomputation under a budget ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The solver: a schedule within the budget that adds little cost, a lower
// bound that holds for every schedule with the same order of first executions,
// and the bound's proof. How it works: docs/rationale/recompute.md.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_SOLVERECOMPUTE_H
#define GPUOPT_PLANNING_RECOMPUTE_SOLVERECOMPUTE_H

#include "gpuopt/Planning/Recompute/Certificate.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

#include <optional>

namespace gpuopt::planning {

/// The number of moves if neither effort nor time is given.
constexpr int64_t defaultEffort = 2'000'000;

struct RecomputeOptions {
  int64_t budgetInBytes = 0;
  /// Moves of the local search. The same effort gives the same plan. 0 means
  /// the default or, with a time limit, as many as it allows.
  int64_t effort = 0;
  /// Ends the search. The plan then depends on the speed of the machine.
  std::optional<double> timeLimitInSeconds;
  int threads = 1; ///< Parallel searches; the plan depends on it.
  /// If no plan within the budget is found, search for the smallest budget that
  /// can be met. That takes about as long again.
  bool findSmallestBudget = true;
  /// If false, the bound is 0, and the search has one start less.
  bool findBound = true;
  /// Uses fewer time points and minimum cuts for the bound, which is mostly
  /// near the best one.
  bool isRoughBound = false;
  /// Ends the search at the first plan within the budget.
  bool anyWillDo = false;
  /// The seed of the search's random numbers. Another seed finds other plans.
  uint64_t seed = 101;
  /// A schedule to start from. If it is within the budget, the result is not
  /// worse.
  Schedule start;
};

struct RecomputeSolution {
  bool found = false; ///< Whether `schedule` is within the budget.
  /// Empty if the problem is, or if no plan within the budget was found.
  Schedule schedule;
  int64_t peakInBytes = 0;
  double addedCost = 0;
  double lowerBound = 0; ///< For the added cost; `certificate` proves it.
  Certificate certificate;
  /// No schedule needs less than this.
  int64_t budgetLowerLimit = 0;
  /// The least peak among the schedules seen; filled where `found` is false.
  int64_t smallestBudgetFound = 0;
};

/// Returns an error only if the problem's `check` does.
Result<RecomputeSolution> solveRecompute(const RecomputeProblem &problem,
                                         const RecomputeOptions &options);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_SOLVERECOMPUTE_H
