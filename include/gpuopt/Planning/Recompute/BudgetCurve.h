//===- BudgetCurve.h - Budget against cost ----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_BUDGETCURVE_H
#define GPUOPT_PLANNING_RECOMPUTE_BUDGETCURVE_H

#include "gpuopt/Planning/Recompute/SolveRecompute.h"

namespace gpuopt::planning {

struct CurvePoint {
  int64_t budgetInBytes = 0;
  RecomputeSolution solution;
};

/// Returns `count` points in equal steps from the plain peak down to the
/// smallest budget that can be met, which is the last. With a bounded effort,
/// plans are those of a `BudgetLadder`; a time limit is for all points
/// together. Of the options, budget and start are ignored. Each plan is also a
/// candidate for every larger budget and each bound holds for every smaller
/// one, so along the curve neither cost nor bound falls as the budget shrinks.
Result<std::vector<CurvePoint>>
solveBudgetCurve(const RecomputeProblem &problem, int count,
                 const RecomputeOptions &options);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_BUDGETCURVE_H
