//===- PlanText.h - Problems and plans as JSON ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The format of gpuopt-solve (docs/solve-format.md), with which another program
// can check a problem and its plan.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_PLANTEXT_H
#define GPUOPT_PLANNING_RECOMPUTE_PLANTEXT_H

#include "gpuopt/Planning/Recompute/Certificate.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

#include <string>

namespace gpuopt::planning {

/// A schedule within a budget, and the bound that is proven for it.
struct PlanClaim {
  int64_t budgetInBytes = 0, peakInBytes = 0;
  double addedPercent = 0, lowerBoundPercent = 0; ///< Percent of all ops.
  Schedule schedule;
  Certificate certificate;
};

std::string printProblem(const RecomputeProblem &problem);

/// Without the flows only their number is printed.
std::string printPlan(const PlanClaim &plan, bool withFlows = true);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_PLANTEXT_H
