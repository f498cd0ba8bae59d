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

/// The options of one more search, whose budget, start and purpose are filled
/// in; none where it is enough.
using NextSearch = std::function<std::optional<RecomputeOptions>()>;

/// Lowers the peak of a plan that is found, in steps of `stepInBytes` and then
/// of less; where one fails, a search that knows nothing of the plan may do.
RecomputeSolution lowerPeak(const RecomputeProblem &problem,
                            RecomputeSolution plan, int64_t stepInBytes,
                            const NextSearch &nextSearch);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_LEASTPEAK_H
