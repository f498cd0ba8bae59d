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

/// The data of a problem that the solvers read again and again. Outputs that
/// share a storage have no bytes of their own.
class Graph {
public:
  explicit Graph(const RecomputeProblem &problem);

  int size() const { return bytes.size(); }
  IntRange inputs(int op) const { return slice(inputLists, inputsOf, op); }
  /// Returns the ops that read the output, in increasing order.
  IntRange users(int op) const { return slice(userLists, usersOf, op); }
  /// Returns the outputs that lie directly in the storage of this one.
  IntRange sharers(int op) const { return slice(sharerLists, sharersOf, op); }
  bool hasSharedStorages() const { return !sharerLists.empty(); }

  std::vector<int64_t> bytes; ///< Size of the storage that the op makes.
  /// Workspace bytes of the first execution, and of each further one.
  std::vector<int64_t> workspace, repeatWorkspace;
  std::vector<double> cost;
  std::vector<int> storage; ///< As in the problem: an input, or -1.
  std::vector<int> root;    ///< The op that makes the storage.
  /// The input that the output overwrites, and the op that overwrites this
  /// output; -1 if there is none. The two run again together.
  std::vector<int> overwritten, overwriter;
  /// For bounds: the op whose output, or a view of it, this is, and the bytes
  /// that it keeps alive. An output that overwrites another one keeps the whole
  /// storage alive by itself, because when the other one is computed again, it
  /// lies elsewhere.
  std::vector<int> holder;
  std::vector<int64_t> heldBytes;
  std::vector<char> pinned, recomputable;
  std::vector<double> offloadCost; ///< Infinite if it may not be.
  bool hasOffload = false;         ///< Whether any output may be offloaded.
  bool mayReload(int op) const { return offloadCost[op] < HUGE_VAL; }
  /// Whether the output can be recovered after it was dropped.
  bool mayReturn(int op) const { return recomputable[op] || mayReload(op); }
  double totalCost = 0;

  /// The last op that reads the output in the plain order; the op itself if
  /// none does, and `size()` if it is pinned.
  std::vector<int> lastUser;

  /// The bytes that the op's first execution needs alive: the storages of its
  /// inputs, its own, and its workspace.
  std::vector<int64_t> workingSet;

  /// Returns the peak of the plain order within each op's execution.
  std::vector<int64_t> plainProfile() const;

private:
  static IntRange slice(const std::vector<int> &lists,
                        const std::vector<int> &starts, int op) {
    return {lists.data() + starts[op], lists.data() + starts[op + 1]};
  }

  std::vector<int> inputLists, userLists, sharerLists;
  std::vector<int> inputsOf, usersOf, sharersOf;
};

/// Returns a budget that every schedule needs: the largest working set,
/// together with the storages that are read later and cannot be recovered.
int64_t budgetLowerLimit(const Graph &graph);

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_GRAPH_H
