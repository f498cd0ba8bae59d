//===- BudgetCurve.cpp - Budget against cost ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/BudgetCurve.h"
#include "Graph.h"

#include <algorithm>

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

Result<std::vector<CurvePoint>>
gpuopt::planning::solveBudgetCurve(const RecomputeProblem &problem,
                                   std::vector<int64_t> budgets,
                                   const RecomputeOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  std::vector<CurvePoint> points;
  RecomputeOptions rung = options;
  rung.start.clear();
  if (options.timeLimitInSeconds)
    rung.timeLimitInSeconds = *options.timeLimitInSeconds / budgets.size();
  for (int64_t budget : budgets) {
    rung.budgetInBytes = budget;
    Result<RecomputeSolution> solution = solveRecompute(problem, rung);
    if (!solution)
      return solution.error();
    if (!solution->found)
      continue;
    rung.start = solution->schedule;
    points.push_back({budget, std::move(*solution)});
  }
  std::reverse(points.begin(), points.end());
  for (size_t i = 1; i < points.size(); ++i) {
    RecomputeSolution &smaller = points[i].solution;
    const RecomputeSolution &larger = points[i - 1].solution;
    if (smaller.lowerBound < larger.lowerBound) {
      smaller.lowerBound = larger.lowerBound;
      smaller.certificate = larger.certificate; // proves it at that budget
    }
  }
  return points;
}
