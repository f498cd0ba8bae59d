//===- Checks.h - What a solution must hold to ---------------- -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work of `gpuopt-solve verify`, on files that have been read.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TOOLS_GPUOPT_SOLVE_CHECKS_H
#define GPUOPT_TOOLS_GPUOPT_SOLVE_CHECKS_H

#include "Files.h"

namespace gpuopt::solve {

/// The cost in percent of the total, which is 0 only where the cost is.
inline double percent(double cost, double total) {
  return total > 0 ? 100 * cost / total : 0;
}

/// The size and the cost that a plan really has, in bytes and in percent of the
/// cost of all ops.
struct PlanFigures {
  int64_t peakInBytes = 0;
  double addedPercent = 0;
  double lowerBoundPercent = 0; ///< What its certificate proves.
};

/// The plan's figures, or what it breaks or claims wrongly.
Result<PlanFigures> checkPlan(const planning::RecomputeProblem &problem,
                              const PlanFile &plan);

/// The packing of an instance, or what is wrong with it.
Result<planning::ArenaSolution> checkPacking(const ArenaFile &arena,
                                             const ArenaFile &packed);

} // namespace gpuopt::solve

#endif // GPUOPT_TOOLS_GPUOPT_SOLVE_CHECKS_H
