//===- SearchSpace.h - The problem as local search sees it ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_SEARCHSPACE_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_SEARCHSPACE_H

#include "Recompute/Search/StagePlan.h"

#include <optional>

namespace gpuopt::planning {

/// Stages allow each op to run again once, in the order of the ops. If that is
/// not enough, empty ops before each op give it more stages. Pinned outputs
/// become the inputs of one more op at the end, so that they, too, can be
/// computed again before it.
class SearchSpace {
public:
  SearchSpace(const RecomputeProblem &problem, int stagesPerOp);

  const Graph &graph() const { return spaceGraph; }

  Schedule scheduleOf(const StagePlan &plan) const;

  /// Returns the repeats of a valid schedule, if the stages can hold them.
  std::optional<std::vector<Slot>> repeatsOf(const Schedule &schedule) const;

  /// Converts repeats to the stages of this space.
  std::vector<Slot> fromPlain(const std::vector<Slot> &repeats) const;

private:
  int atOp(int op) const { return op * stagesPerOp + stagesPerOp - 1; }

  int stagesPerOp, ops;
  Graph spaceGraph;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_SEARCHSPACE_H
