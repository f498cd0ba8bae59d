//===- Graph.h - The graph of a recompute problem ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_GRAPH_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_GRAPH_H

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

#include <cmath>

namespace gpuopt::planning {

/// A slice of a flat array.
struct IntRange {
  const int *first, *last;
  const int *begin() const { return first; }
  const int *end() const { return last; }
  int size() const { return last - first; }
};

/// What the solvers read of a problem again and again. Outputs that share a
/// storage have no bytes of their own.
class Graph {
public:
  explicit Graph(const RecomputeProblem &problem);

  int size() const { return bytes.size(); }
  IntRange inputs(int op) const { return slice(inputLists, inputsOf, op); }
  /// In increasing order.
  IntRange users(int op) const { return slice(userLists, usersOf, op); }
  /// The outputs that lie in the storage of this one, one level deep.
  IntRange sharers(int op) const { return slice(sharerLists, sharersOf, op); }
  bool hasSharedStorages() const { return !sharerLists.empty(); }

  std::vector<int64_t> bytes; ///< Of the storage that the op makes.
  /// Bytes during the first execution, and during each further one.
  std::vector<int64_t> workspace, repeatWorkspace;
  std::vector<double> cost;
  std::vector<int> storage; ///< As in the problem: an input, or -1.
  std::vector<int> root;    ///< The op that makes the storage.
  /// The input whose place the output takes, and the op that takes the place
  /// of this one; -1 where there is none. The two run again together.
  std::vector<int> overwritten, overwriter;
  /// For bounds: the op whose output, or a view of it, this is, and the bytes
  /// that it keeps alive. What takes a place keeps all of that storage alive
  /// by itself: when what was there is made again, it lies elsewhere.
  std::vector<int> holder;
  std::vector<int64_t> heldBytes;
  std::vector<char> pinned, recomputable;
  std::vector<double> offloadCost; ///< Infinite where it may not be offloaded.
  bool hasOffload = false;         ///< Whether any may be.
  bool mayReload(int op) const { return offloadCost[op] < HUGE_VAL; }
  /// Whether the output can be had again at all.
  bool mayReturn(int op) const { return recomputable[op] || mayReload(op); }
  double totalCost = 0;

  /// The last op that reads the output in the plain order; the op itself where
  /// none does, and `size()` where it is pinned.
  std::vector<int> lastUser;

  /// The bytes that the op's execution needs alive: inputs' storages, its own,
  /// its workspace, at the first execution.
  std::vector<int64_t> workingSet;

  /// The peak of the plain order within each op's execution.
  std::vector<int64_t> plainProfile() const;

private:
  static IntRange slice(const std::vector<int> &lists,
                        const std::vector<int> &starts, int op) {
    return {lists.data() + starts[op], lists.data() + starts[op + 1]};
  }

  std::vector<int> inputLists, userLists, sharerLists;
  std::vector<int> inputsOf, usersOf, sharersOf;
};

/// A budget below this is met by no schedule: the largest working set,
/// together with the storages that cannot be had again later.
int64_t budgetLowerLimit(const Graph &graph);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_GRAPH_H
