//===- BudgetLadder.h - Plans that get no dearer with memory ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search can be luckier with a smaller budget than with a larger one. So that
// less memory never costs less, in calls that know nothing of each other, plans
// are made for the rungs of a ladder of budgets that depends on the problem
// alone, each by the problem and the effort alone; a budget takes the cheapest
// of those that are within it, and they are within every larger one.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_BUDGETLADDER_H
#define GPUOPT_PLANNING_BUDGETLADDER_H

#include "gpuopt/Planning/SolveRecompute.h"

#include <map>

namespace gpuopt::planning {

class BudgetLadder {
public:
  /// Expects a problem that passes its check, which outlives the ladder. Of the
  /// options, budget, time limit and start are ignored. About the effort is
  /// spent on a budget, less where rungs are known from budgets before.
  BudgetLadder(const RecomputeProblem &problem, RecomputeOptions options);

  RecomputeSolution solve(int64_t budgetInBytes);

  /// A hundred rungs to each halving of the plain peak, in equal steps; so
  /// fractions of the peak with two or three digits are rungs. Rung 0 is the
  /// plain peak.
  int64_t budgetOf(int index) const;

private:
  struct Rung {
    int64_t budgetInBytes = 0;
    RecomputeSolution solution;
    double boundAt(int64_t otherBudget) const;
  };
  const Rung &solveRung(int index);
  int rungsWorthwhile(const Rung &rung, int index) const;
  int firstRungFor(int64_t budget) const;
  RecomputeSolution combine(int64_t budgetInBytes, const Rung &plan,
                            const Rung &proof) const;

  const RecomputeProblem &problem;
  RecomputeOptions options;
  int64_t plainPeak, lowerLimit;
  std::map<int64_t, Rung> rungs; ///< Those solved, by their budgets.
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_BUDGETLADDER_H
