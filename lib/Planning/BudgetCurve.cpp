//===- BudgetCurve.cpp - Budget against cost ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/BudgetCurve.h"
#include "Graph.h"

#include <algorithm>
#include <functional>

using namespace gpuopt::planning;

std::vector<int64_t>
gpuopt::planning::curveBudgets(const RecomputeProblem &problem, int count) {
  int64_t plain = plainPeak(problem);
  int64_t limit = std::min(plain, budgetLowerLimit(Graph(problem)));
  std::vector<int64_t> budgets;
  for (int i = 0; i < count; ++i)
    budgets.push_back(plain - (plain - limit) / std::max(1, count - 1) * i);
  if (count > 1)
    budgets.back() = limit;
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

/// A plan serves every larger budget, a bound every smaller one.
static void carryAlong(std::vector<CurvePoint> &points) {
  for (size_t i = points.size(); i-- > 1;) {
    const RecomputeSolution &smaller = points[i].solution;
    RecomputeSolution &larger = points[i - 1].solution;
    if (smaller.addedCost < larger.addedCost) {
      larger.schedule = smaller.schedule;
      larger.peakInBytes = smaller.peakInBytes;
      larger.addedCost = smaller.addedCost;
      larger.lowerBound = std::min(larger.lowerBound, larger.addedCost);
    }
  }
  for (size_t i = 1; i < points.size(); ++i) {
    RecomputeSolution &smaller = points[i].solution;
    const RecomputeSolution &larger = points[i - 1].solution;
    if (smaller.lowerBound < larger.lowerBound) {
      smaller.lowerBound = larger.lowerBound;
      smaller.certificate = larger.certificate; // proves it at that budget
    }
  }
}

Result<std::vector<CurvePoint>>
gpuopt::planning::solveBudgetCurve(const RecomputeProblem &problem,
                                   std::vector<int64_t> budgets,
                                   const RecomputeOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  std::sort(budgets.begin(), budgets.end(), std::greater<>());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  RecomputeOptions own = options;
  own.start.clear();
  own.findSmallestBudget = false;
  if (options.timeLimitInSeconds)
    own.timeLimitInSeconds = *options.timeLimitInSeconds / budgets.size();
  std::vector<CurvePoint> points;
  for (int64_t budget : budgets) {
    own.budgetInBytes = budget;
    RecomputeSolution solution = *solveRecompute(problem, own);
    if (!solution.found)
      break; // nor is any below
    points.push_back({budget, std::move(solution)});
  }
  carryAlong(points);
  return points;
}
