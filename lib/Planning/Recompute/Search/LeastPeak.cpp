//===- LeastPeak.cpp - The smallest budget that can be met ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Search/LeastPeak.h"
#include "Recompute/Graph.h"

#include <algorithm>

using namespace gpuopt::planning;

/// Steps are at least this fraction of the plain peak.
static constexpr int smallestStep = 2048;

/// Where searches fail, one more does this many times their moves: plans with
/// the lowest peaks are few.
static constexpr int moreEffort = 8;

RecomputeSolution gpuopt::planning::lowerPeak(const RecomputeProblem &problem,
                                              RecomputeSolution plan,
                                              int64_t stepInBytes,
                                              const NextSearch &nextSearch) {
  int64_t limit = budgetLowerLimit(Graph(problem));
  int64_t least = plainPeak(problem) / smallestStep;
  bool isEnough = false;
  auto search = [&](const Schedule &start, int64_t times) {
    std::optional<RecomputeOptions> options = nextSearch();
    isEnough = !options;
    if (isEnough)
      return false;
    options->budgetInBytes = std::max(limit, plan.peakInBytes - stepInBytes);
    options->findBound = options->findSmallestBudget = false;
    options->anyWillDo = true;
    options->start = start;
    options->effort *= times;
    RecomputeSolution lower = *solveRecompute(problem, *options);
    bool isFound = lower.found;
    if (isFound)
      plan = std::move(lower);
    return isFound;
  };
  while (!isEnough && stepInBytes > least && plan.peakInBytes > limit)
    if (!search(plan.schedule, 1) && !search({}, 1) && !search({}, moreEffort))
      stepInBytes /= 2;
  return plan;
}
