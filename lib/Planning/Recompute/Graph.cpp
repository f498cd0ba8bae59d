//===- Graph.cpp - The graph of a recompute problem, laid out flat --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Graph.h"

#include <algorithm>

using namespace gpuopt::planning;

/// Turns (owner, element) pairs, sorted by owner, into flat lists.
static void flatten(int n, const std::vector<std::pair<int, int>> &pairs,
                    std::vector<int> &lists, std::vector<int> &starts) {
  starts.assign(n + 1, 0);
  for (auto [owner, element] : pairs)
    ++starts[owner + 1];
  for (int i = 0; i < n; ++i)
    starts[i + 1] += starts[i];
  lists.resize(pairs.size());
  std::vector<int> next(starts.begin(), starts.end() - 1);
  for (auto [owner, element] : pairs)
    lists[next[owner]++] = element;
}

/// Returns the different storages that the op's execution touches.
static std::vector<int> touchedStorages(const Graph &graph, int op) {
  std::vector<int> storages{graph.root[op]};
  for (int input : graph.inputs(op))
    storages.push_back(graph.root[input]);
  std::sort(storages.begin(), storages.end());
  storages.erase(std::unique(storages.begin(), storages.end()), storages.end());
  return storages;
}

Graph::Graph(const RecomputeProblem &problem) {
  int n = problem.ops.size();
  overwritten.assign(n, -1);
  overwriter.assign(n, -1);
  std::vector<std::pair<int, int>> reads, readBy, shared;
  for (int i = 0; i < n; ++i) {
    const RecomputeOp &op = problem.ops[i];
    bytes.push_back(op.storage < 0 ? op.sizeInBytes : 0);
    workspace.push_back(op.workspaceInBytes);
    repeatWorkspace.push_back(op.repeatWorkspace());
    cost.push_back(op.cost);
    totalCost += op.cost;
    storage.push_back(op.storage);
    root.push_back(op.storage < 0 ? i : root[op.storage]);
    bool isView = op.storage >= 0 && !op.overwrites;
    holder.push_back(isView ? holder[op.storage] : i);
    heldBytes.push_back(isView ? 0 : bytes[root[i]]);
    pinned.push_back(op.pinned);
    recomputable.push_back(op.recomputable);
    offloadCost.push_back(op.offloadCost.value_or(HUGE_VAL));
    hasOffload |= op.offloadCost.has_value();
    if (op.overwrites) {
      overwritten[i] = op.storage;
      overwriter[op.storage] = i;
      recomputable[i] = recomputable[i] && recomputable[op.storage];
    }
    lastUser.push_back(op.pinned ? n : i);
    for (int input : op.inputs) {
      reads.emplace_back(i, input);
      readBy.emplace_back(input, i);
      lastUser[input] = std::max(lastUser[input], i);
    }
    if (op.storage >= 0)
      shared.emplace_back(op.storage, i);
  }
  flatten(n, reads, inputLists, inputsOf);
  flatten(n, readBy, userLists, usersOf);
  flatten(n, shared, sharerLists, sharersOf);
  for (int i = 0; i < n; ++i) {
    workingSet.push_back(workspace[i]);
    for (int made : touchedStorages(*this, i))
      workingSet.back() += bytes[made];
  }
}

/// Returns for each op the last op of the plain order that needs its storage.
static std::vector<int> storageEnds(const Graph &graph) {
  std::vector<int> ends(graph.size());
  for (int i = 0; i < graph.size(); ++i) {
    ends[i] = std::max(ends[i], i);
    ends[graph.root[i]] = std::max(ends[graph.root[i]], graph.lastUser[i]);
  }
  return ends;
}

std::vector<int64_t> Graph::plainProfile() const {
  std::vector<int64_t> change(size() + 2, 0), profile(size());
  std::vector<int> ends = storageEnds(*this);
  for (int i = 0; i < size(); ++i) {
    change[i] += bytes[i];
    change[std::min(ends[i], size()) + 1] -= bytes[i];
  }
  int64_t live = 0;
  for (int i = 0; i < size(); ++i)
    profile[i] = (live += change[i]) + workspace[i];
  return profile;
}

int64_t gpuopt::planning::budgetLowerLimit(const Graph &graph) {
  // At each op, counts its working set and every storage whose output was made
  // before, is read later and cannot be recovered.
  int n = graph.size();
  std::vector<int> holders(n, 0);
  std::vector<std::vector<int>> releases(n + 1);
  int64_t held = 0, limit = 0;
  for (int i = 0; i < n; ++i) {
    int64_t countedTwice = 0;
    for (int made : touchedStorages(graph, i))
      countedTwice += holders[made] > 0 ? graph.bytes[made] : 0;
    limit = std::max(limit, graph.workingSet[i] + held - countedTwice);
    if (!graph.mayReturn(i) && graph.lastUser[i] > i) {
      held += holders[graph.root[i]]++ == 0 ? graph.bytes[graph.root[i]] : 0;
      releases[graph.lastUser[i]].push_back(graph.root[i]);
    }
    for (int made : releases[i])
      held -= --holders[made] == 0 ? graph.bytes[made] : 0;
  }
  return limit;
}
