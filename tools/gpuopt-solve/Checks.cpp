//===- Checks.cpp - What a solution must hold to --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

/// Whether a claimed percentage is the true one, but for its last digits.
static bool isClose(double claimed, double actual) {
  return std::abs(claimed - actual) <= 1e-6 * (1 + std::abs(actual));
}

Result<PlanFigures> solve::checkPlan(const RecomputeProblem &problem,
                                     const PlanFile &plan) {
  if (MaybeError error = verify(problem, plan.schedule, plan.budgetInBytes))
    return *error;
  ScheduleCost cost = *simulate(problem, plan.schedule);
  double total = problem.totalCost();
  PlanFigures figures;
  figures.peakInBytes = cost.peakInBytes;
  figures.addedPercent = percent(cost.addedCost, total);
  if (!plan.certificate.isEmpty()) {
    Result<double> proven =
        checkCertificate(problem, plan.budgetInBytes, plan.certificate);
    if (!proven)
      return Error{"certificate: " + proven.error().message};
    figures.lowerBoundPercent = percent(*proven, total);
  }
  if (plan.peakInBytes != figures.peakInBytes ||
      !isClose(plan.addedPercent, figures.addedPercent))
    return Error{"the plan claims another peak or cost than it has"};
  if (!(plan.lowerBoundPercent <=
        figures.lowerBoundPercent + 1e-6 * (1 + figures.lowerBoundPercent)))
    return Error{"the plan claims a higher bound than it proves"};
  return figures;
}

Result<ArenaSolution> solve::checkPacking(const ArenaFile &arena,
                                          const ArenaFile &packed) {
  if (packed.ids != arena.ids || packed.offsets.size() != arena.ids.size())
    return Error{"the solution's rows are not the instance's, with offsets"};
  ArenaSolution solution{packed.offsets, 0};
  for (size_t i = 0; i < arena.ids.size(); ++i) {
    const Buffer &a = arena.problem.buffers[i], &b = packed.problem.buffers[i];
    if (a.lower != b.lower || a.upper != b.upper ||
        a.sizeInBytes != b.sizeInBytes)
      return Error{"buffer '" + arena.ids[i] + "' was changed"};
    if (solution.offsets[i] < 0 ||
        solution.offsets[i] > INT64_MAX - a.sizeInBytes)
      return Error{"buffer '" + arena.ids[i] + "' is out of range"};
    solution.height =
        std::max(solution.height, solution.offsets[i] + a.sizeInBytes);
  }
  if (MaybeError error = verify(arena.problem, solution))
    return *error;
  return solution;
}
