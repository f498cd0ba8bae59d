//===- BudgetCurve.h - Budget against cost ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_BUDGETCURVE_H
#define GPUOPT_PLANNING_BUDGETCURVE_H

#include "gpuopt/Planning/SolveRecompute.h"

namespace gpuopt::planning {

struct CurvePoint {
  int64_t budgetInBytes = 0;
  RecomputeSolution solution;
};

/// Solves for each budget with the given options (their budget and start are
/// ignored; the time limit is for all together), and returns the points by
/// falling budget, down to the first that is not met. Each plan is also a
/// candidate for every larger budget and each bound holds for every smaller
/// one, so along the curve neither cost nor bound falls as the budget shrinks.
Result<std::vector<CurvePoint>>
solveBudgetCurve(const RecomputeProblem &problem, std::vector<int64_t> budgets,
                 const RecomputeOptions &options);

/// `count` budgets in equal steps from the plain peak down to the smallest
/// that is worth a try.
std::vector<int64_t> curveBudgets(const RecomputeProblem &problem, int count);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_BUDGETCURVE_H
