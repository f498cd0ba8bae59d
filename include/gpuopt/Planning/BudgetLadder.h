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
// Every tenth rung is an anchor, which is searched by itself and, where that is
// not close to its bound, from plans for smaller budgets. The rungs between two
// anchors begin with plans of lower ones. So what a budget costs falls from
// rung to rung on the way up, and little of the ladder is looked at for one
// budget.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_BUDGETLADDER_H
#define GPUOPT_PLANNING_BUDGETLADDER_H

#include "gpuopt/Planning/SolveRecompute.h"

#include <functional>
#include <map>

namespace gpuopt::planning {

/// A schedule and what it takes; empty where there is none.
struct LadderPlan {
  Schedule schedule;
  int64_t peakInBytes = 0;
  double addedCost = 0;
  bool found() const { return !schedule.empty(); }
};

class BudgetLadder {
public:
  /// Expects a problem that passes its check, which outlives the ladder. Of the
  /// options, budget, time limit and start are ignored.
  BudgetLadder(const RecomputeProblem &problem, RecomputeOptions options);

  /// Whether a plan within the budget will do for the caller.
  using Accepts = std::function<bool(const LadderPlan &)>;

  /// Plans are offered to `accepts` by growing cost, until one will do.
  RecomputeSolution solve(int64_t budgetInBytes, const Accepts &accepts = {});

  /// The plan with the least peak that can be found: the same whatever was
  /// solved before.
  const LadderPlan &leastPlan();

  /// A hundred rungs to each halving of the plain peak, in equal steps; so
  /// fractions of the peak with two or three digits are rungs. Rung 0 is the
  /// plain peak.
  int64_t budgetOf(int index) const;

  /// The lowest rung that is at least the budget.
  int rungAbove(int64_t budget) const;

  /// The plan of a rung; none where not even the least peak is within it.
  const LadderPlan &planOf(int index);

private:
  /// Of the added cost, proven at one budget, and how it goes on below.
  struct Bound {
    int64_t budgetInBytes = 0;
    double lowerBound = 0, costPerByte = 0;
    double at(int64_t otherBudget) const {
      return lowerBound + costPerByte * double(budgetInBytes - otherBudget);
    }
    bool proves(double cost, int64_t budget) const;
  };
  struct Anchor {
    Bound bound;
    LadderPlan plan;
  };
  const Anchor &search(int index);
  LadderPlan rise(const LadderPlan &plan, int64_t budget) const;
  const LadderPlan *startFor(int index);
  const LadderPlan &anchorPlan(int index);
  const LadderPlan &bestFrom(int index);
  int lowestMetAnchor();
  const LadderPlan *choose(int64_t budget, const Accepts &accepts);
  RecomputeOptions optionsFor(int64_t budget, int share) const;

  const RecomputeProblem &problem;
  RecomputeOptions options;
  int64_t plainPeak, lowerLimit;
  /// By rung: of anchors what their own searches found, and their plans; and
  /// the plans of other rungs.
  std::map<int, Anchor> anchors;
  std::map<int, LadderPlan> anchorPlans, plans;
  std::optional<LadderPlan> least;
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_BUDGETLADDER_H
