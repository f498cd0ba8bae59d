//===- PackArena.cpp - Packs an arena -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/PackArena.h"
#include "FirstFit.h"

#include <algorithm>

using namespace gpuopt::planning;

Result<Packing> gpuopt::planning::packArena(const ArenaProblem &problem,
                                            const PackOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  Packing packing;
  packing.lowerLimitInBytes = heightLowerLimit(problem);
  int64_t enough =
      std::max(packing.lowerLimitInBytes, options.capacityInBytes.value_or(0));
  std::vector<int> order;
  packing.solution = packFirstFits(problem, enough, order);
  return packing;
}
