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

/// Moves where neither effort nor time is given.
constexpr int64_t defaultEffort = 2'000'000;

struct RecomputeOptions {
  int64_t budgetInBytes = 0;
  /// Moves of the local search. The same effort gives the same plan. 0: the
  /// default, or until the time is over.
  int64_t effort = 0;
  /// Ends the search. Plans then depend on the machine's speed.
  std::optional<double> timeLimitInSeconds;
  int threads = 1; ///< Searches side by side; part of what fixes the plan.
  /// Where nothing within the budget is found, look for the least that can be
  /// met; takes about as long again.
  bool findSmallestBudget = true;
  /// Without, the bound is 0, and the search has one start less.
  bool findBound = true;
  /// Fewer time points and minimum cuts for it: mostly near the best bound.
  bool isRoughBound = false;
  /// Ends the search at the first plan within the budget.
  bool anyWillDo = false;
  /// The seed of the random numbers of the search: another one finds other
  /// plans.
  uint64_t seed = 101;
  /// A schedule to start from and, where it fits, never to be worse than.
  Schedule start;
};

struct RecomputeSolution {
  bool found = false; ///< Whether `schedule` is within the budget.
  /// Empty where the problem is, or where nothing within the budget was found.
  Schedule schedule;
  int64_t peakInBytes = 0;
  double addedCost = 0;
  double lowerBound = 0; ///< On the added cost, proven by `certificate`.
  Certificate certificate;
  /// No schedule needs less than this.
  int64_t budgetLowerLimit = 0;
  /// The least peak among the schedules seen; filled where `found` is false.
  int64_t smallestBudgetFound = 0;
};

/// An error only where the problem's `check` has one.
Result<RecomputeSolution> solveRecompute(const RecomputeProblem &problem,
                                         const RecomputeOptions &options);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_SOLVERECOMPUTE_H
