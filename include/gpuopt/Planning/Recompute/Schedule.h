//===- Schedule.h - What a schedule really costs ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exact simulator. It defines what a schedule means, and it checks every
// plan. The solvers compute peaks and costs with code of their own.
//
// - The first executions stand in the order of the ops, and every op runs.
// - An execution reads the latest execution of each of its inputs.
// - An output lives from its execution to the last one that reads it, both
//   included; one that nobody reads lives for its own execution. The last
//   execution of a pinned op lives to the end.
// - A storage lives as long as any output in it. An output that shares a
//   storage lies in the one of the execution of `storage` that it read.
// - An execution that overwrites needs one of `storage` that no execution has
//   overwritten yet.
// - A reload counts as an execution that reads nothing and needs no workspace:
//   of an op that has run and may be offloaded, in a storage of its own, of
//   the size of the one in which the output first lay.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_SCHEDULE_H
#define GPUOPT_PLANNING_RECOMPUTE_SCHEDULE_H

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

namespace gpuopt::planning {

/// Every execution in order, as indices of ops, including repeats; a reload is
/// `reloadOf(op)`.
using Schedule = std::vector<int>;

inline int reloadOf(int op) { return ~op; }
inline bool isReload(int entry) { return entry < 0; }
/// Returns the op that an entry executes or reloads.
inline int opOf(int entry) { return entry < 0 ? ~entry : entry; }

struct ScheduleCost {
  int64_t peakInBytes = 0; ///< The most bytes alive at one execution.
  double addedCost = 0;    ///< The cost of repeats and reloads.
};

/// Returns what the schedule costs, or which rule it breaks.
Result<ScheduleCost> simulate(const RecomputeProblem &problem,
                              const Schedule &schedule);

/// Removes repeats of ops that overwrite, if what they would overwrite was not
/// computed again. Their output is still there then, because its storage was
/// kept. The peak and the cost do not grow.
Schedule withoutStaleRepeats(const RecomputeProblem &problem,
                             const Schedule &schedule);

/// Returns every op once, in order.
Schedule plainOrder(const RecomputeProblem &problem);

/// Returns the peak of the plain order. Expects a problem that passes its
/// check.
int64_t plainPeak(const RecomputeProblem &problem);

/// Returns which rule or budget the schedule breaks, if any.
MaybeError verify(const RecomputeProblem &problem, const Schedule &schedule,
                  int64_t budgetInBytes);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_SCHEDULE_H
