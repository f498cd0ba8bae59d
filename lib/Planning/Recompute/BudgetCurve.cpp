//===- BudgetCurve.cpp - Budget against cost ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/BudgetCurve.h"
#include "Recompute/Graph.h"
#include "Recompute/Search/LeastPeak.h"
#include "gpuopt/Planning/Recompute/BudgetLadder.h"

#include <algorithm>

using namespace gpuopt::planning;

/// The shares of a time limit for the search for the smallest budget, and for
/// each step of it.
static constexpr double shareOfLeast = 0.25, shareOfStep = 0.02;

static std::vector<int64_t> equalSteps(int64_t from, int64_t to, int count) {
  std::vector<int64_t> budgets;
  for (int i = 0; i < count; ++i)
    budgets.push_back(from - (from - to) / std::max(1, count - 1) * i);
  if (count > 1)
    budgets.back() = to;
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

/// Uses each plan for every larger budget, and each bound for every smaller
/// one.
static void carryAlong(std::vector<CurvePoint> &points) {
  for (size_t i = points.size(); i-- > 1;) {
    const RecomputeSolution &smaller = points[i].solution;
    RecomputeSolution &larger = points[i - 1].solution;
    if (!larger.found || smaller.addedCost < larger.addedCost) {
      larger.found = true;
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

/// Lowers the peak from that of the plain order, as far as this share of the
/// time allows.
static RecomputeSolution findLeast(const RecomputeProblem &problem,
                                   RecomputeOptions options) {
  double limit = *options.timeLimitInSeconds, spent = 0;
  options.timeLimitInSeconds = limit * shareOfStep;
  RecomputeSolution plain;
  plain.found = true;
  plain.schedule = plainOrder(problem);
  plain.peakInBytes = plainPeak(problem);
  int64_t gap = plain.peakInBytes - budgetLowerLimit(Graph(problem));
  return lowerPeak(problem, std::move(plain), gap,
                   [&]() -> std::optional<RecomputeOptions> {
                     if (spent >= shareOfLeast)
                       return std::nullopt;
                     spent += shareOfStep;
                     return options;
                   });
}

static std::vector<CurvePoint> solveInTime(const RecomputeProblem &problem,
                                           int count,
                                           const RecomputeOptions &options) {
  RecomputeSolution least = findLeast(problem, options);
  std::vector<int64_t> budgets =
      equalSteps(plainPeak(problem), least.peakInBytes, count);
  RecomputeOptions own = options;
  own.findSmallestBudget = false;
  own.timeLimitInSeconds =
      *options.timeLimitInSeconds * (1 - shareOfLeast) / budgets.size();
  std::vector<CurvePoint> points;
  for (int64_t budget : budgets) {
    own.budgetInBytes = budget;
    own.start.clear();
    if (budget == budgets.back())
      own.start = least.schedule;
    points.push_back({budget, *solveRecompute(problem, own)});
  }
  return points;
}

static std::vector<CurvePoint> solveByEffort(const RecomputeProblem &problem,
                                             int count,
                                             const RecomputeOptions &options) {
  BudgetLadder ladder(problem, options);
  std::vector<CurvePoint> points;
  for (int64_t budget :
       equalSteps(plainPeak(problem), ladder.leastPlan().peakInBytes, count))
    points.push_back({budget, ladder.solve(budget)});
  return points;
}

Result<std::vector<CurvePoint>>
gpuopt::planning::solveBudgetCurve(const RecomputeProblem &problem, int count,
                                   const RecomputeOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  RecomputeOptions own = options;
  own.start.clear();
  std::vector<CurvePoint> points = own.timeLimitInSeconds
                                       ? solveInTime(problem, count, own)
                                       : solveByEffort(problem, count, own);
  carryAlong(points);
  return points;
}
