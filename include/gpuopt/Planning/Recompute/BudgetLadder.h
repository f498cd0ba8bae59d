//===- BudgetLadder.h - Plans that get no dearer with memory ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search can be luckier with a smaller budget than with a larger one, but
// less memory should never cost less time, even in separate calls. Therefore
// plans are made for the rungs of a ladder of budgets. The ladder depends on
// the problem alone, and each plan on the problem and the effort alone. A
// budget takes the cheapest of the plans that are within it; they are within
// every larger budget, too.
//
// Every tenth rung is an anchor. Those of one halving of the budget are solved
// together: some by searches of their own, and then all of them in sweeps down
// and up the ladder, in which each plan begins with its neighbour's. What one
// budget has found so comes to all others. The rungs between two anchors are
// swept in the same way.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_BUDGETLADDER_H
#define GPUOPT_PLANNING_RECOMPUTE_BUDGETLADDER_H

#include "gpuopt/Planning/Recompute/SolveRecompute.h"

#include <array>
#include <deque>
#include <functional>
#include <map>

namespace gpuopt::planning {

/// A schedule and its cost; empty if there is none.
struct LadderPlan {
  Schedule schedule;
  int64_t peakInBytes = 0;
  double addedCost = 0;
  bool found() const { return !schedule.empty(); }
};

class BudgetLadder {
public:
  /// Expects a problem that passes its check and outlives the ladder. Of the
  /// options, budget, time limit, start and seed are ignored.
  BudgetLadder(const RecomputeProblem &problem, RecomputeOptions options);

  /// Whether a plan within the budget will do for the caller.
  using Accepts = std::function<bool(const LadderPlan &)>;

  /// Offers plans to `accepts` by growing cost, until it accepts one.
  RecomputeSolution solve(int64_t budgetInBytes, const Accepts &accepts = {});

  /// Returns the plan with the least peak that can be found. It does not depend
  /// on what was solved before.
  const LadderPlan &leastPlan() { return bottom().least; }

  /// Returns the budget of a rung. There are a hundred rungs to each halving of
  /// the plain peak, in equal steps, so that fractions of the peak with two or
  /// three digits are rungs. Rung 0 is the plain peak.
  int64_t budgetOf(int index) const;

  /// Returns the lowest rung that is at least the budget.
  int rungAbove(int64_t budget) const;

  /// Returns the plan of a rung; empty if not even the least peak is within it.
  const LadderPlan &planOf(int index);

private:
  static constexpr int rungsPerHalving = 100, stride = 10;
  static constexpr int anchorsPerHalving = rungsPerHalving / stride;

  /// A lower bound of the added cost that was proven at one budget, and how it
  /// changes towards others.
  struct Bound {
    int64_t budgetInBytes = 0;
    double lowerBound = 0, costPerByte = 0;
    double at(int64_t otherBudget) const {
      return lowerBound + costPerByte * double(budgetInBytes - otherBudget);
    }
  };
  /// The anchors of one halving and, if the next halving's search has begun,
  /// its first anchor.
  struct Halving {
    std::array<LadderPlan, anchorsPerHalving + 1> plans;
    std::vector<Bound> bounds;
  };
  /// Plans of neighbouring rungs that are made together. `firstRung` is how
  /// many rungs down the first of them lies, and `step` is the distance from
  /// one to the next.
  struct Range {
    LadderPlan *plans;
    int count, firstRung, step;
    double leastCost; ///< Cheaper plans are left to others.
  };
  /// The end of the ladder.
  struct Bottom {
    int anchor = 0; ///< The lowest anchor with a plan.
    std::array<LadderPlan, stride> plans;
    LadderPlan least;
  };
  bool isOnLadder(int index) const;
  const Halving &halving(int index);
  void searchAnchors(int first, const Range &range, Halving &halving);
  void sweep(const Range &range, const std::vector<Bound> &bounds);
  void offer(const LadderPlan &plan, const Range &range) const;
  LadderPlan anneal(const LadderPlan &start, int64_t budget, uint64_t seed);
  const LadderPlan &anchorPlan(int index);
  bool isProven(double cost, int64_t budget,
                const std::vector<Bound> &bounds) const;
  const LadderPlan &bestFrom(int index);
  const std::array<LadderPlan, stride> &plansBetween(int anchor);
  const Bottom &bottom();
  const LadderPlan *choose(int64_t budget, const Accepts &accepts);
  RecomputeOptions optionsFor(int64_t budget, int share) const;

  const RecomputeProblem &problem;
  RecomputeOptions options;
  int64_t plainPeak, lowerLimit;
  std::deque<Halving> halvings; ///< As far down as was asked for.
  /// The plans between each anchor and the next, by anchor, from the first rung
  /// on.
  std::map<int, std::array<LadderPlan, stride>> between;
  std::optional<Bottom> lowest;
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_BUDGETLADDER_H
