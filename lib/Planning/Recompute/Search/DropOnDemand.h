//===- DropOnDemand.h - Plans from what to drop -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_DROPONDEMAND_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_DROPONDEMAND_H

#include "Recompute/Bound/TimeExpandedCut.h"
#include "Recompute/Search/StagePlan.h"

namespace gpuopt::planning {

/// Drops, at each time point of the cut, every output that the cut does not
/// keep there, and computes it again when an op needs it, recursively. This can
/// lead to repeats of repeats.
std::vector<Slot> dropByCut(const Graph &graph, const TimeExpandedCut &cut);

/// Drops a flagged output whenever its next use in the plain order is more
/// than `gap` ops away.
std::vector<Slot> dropByGap(const Graph &graph,
                            const std::vector<char> &isFlagged, int gap);

/// An output, and the op from which on it is kept.
struct KeptFrom {
  int stage = 0;
  /// Whether outputs that this op needed again are dropped after it.
  bool dropsDemanded = false;
  std::vector<int> ops;
};

/// At each of these stages, in increasing order, drops all outputs of ops
/// before `turningPoint` except those that are kept.
std::vector<Slot> dropOthers(const Graph &graph, int turningPoint,
                             const std::vector<KeptFrom> &drops);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_DROPONDEMAND_H
