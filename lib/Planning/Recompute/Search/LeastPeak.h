//===- LeastPeak.h - The smallest budget that can be met --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_LEASTPEAK_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_LEASTPEAK_H

#include "gpuopt/Planning/Recompute/SolveRecompute.h"

#include <functional>

namespace gpuopt::planning {

/// Returns the options of one more search, whose budget, start and purpose are
/// filled in later; nothing if there were enough.
using NextSearch = std::function<std::optional<RecomputeOptions>()>;

/// Lowers the peak of a plan in steps of `stepInBytes`, and then in smaller
/// ones. Where a step fails, a search that does not start from the plan is
/// tried, and then a longer one.
RecomputeSolution lowerPeak(const RecomputeProblem &problem,
                            RecomputeSolution plan, int64_t stepInBytes,
                            const NextSearch &nextSearch);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_LEASTPEAK_H
