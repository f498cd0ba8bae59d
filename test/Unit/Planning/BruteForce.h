//===- BruteForce.h - The optimum of small recompute problems ---*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dijkstra over (first executions done, outputs resident). Knows nothing of
// the solvers; no shared storages.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TEST_UNIT_PLANNING_BRUTEFORCE_H
#define GPUOPT_TEST_UNIT_PLANNING_BRUTEFORCE_H

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

#include <cmath>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <tuple>

namespace gpuopt::planning {

/// The least added cost of any schedule within the budget, -1 where none is.
inline double bruteForceOptimum(const RecomputeProblem &problem,
                                int64_t budget) {
  int n = problem.ops.size();
  using State = std::pair<int, unsigned>; // next first execution, residents
  std::vector<std::vector<double>> best(n + 1,
                                        std::vector<double>(1u << n, HUGE_VAL));
  std::priority_queue<std::pair<double, State>,
                      std::vector<std::pair<double, State>>, std::greater<>>
      queue;
  auto reach = [&](double cost, int next, unsigned residents) {
    if (cost < best[next][residents]) {
      best[next][residents] = cost;
      queue.push({cost, {next, residents}});
    }
  };
  reach(0, 0, 0);
  while (!queue.empty()) {
    auto [cost, state] = queue.top();
    auto [next, residents] = state;
    queue.pop();
    if (cost > best[next][residents])
      continue;
    if (next == n) {
      bool hasPinned = true;
      for (int i = 0; i < n; ++i)
        hasPinned &= !problem.ops[i].pinned || (residents >> i & 1);
      if (hasPinned)
        return cost;
    }
    int64_t live = 0;
    for (int i = 0; i < n; ++i)
      if (residents >> i & 1) {
        live += problem.ops[i].sizeInBytes;
        reach(cost, next, residents & ~(1u << i));
      }
    for (int i = 0; i <= next && i < n; ++i) {
      const RecomputeOp &op = problem.ops[i];
      int64_t workspace =
          i == next ? op.workspaceInBytes : op.repeatWorkspace();
      bool canRun = !(residents >> i & 1) && (i == next || op.recomputable) &&
                    live + op.sizeInBytes + workspace <= budget;
      for (int input : op.inputs)
        canRun &= residents >> input & 1;
      if (canRun)
        reach(cost + (i == next ? 0 : op.cost), next + (i == next),
              residents | 1u << i);
      bool canReload = i < next && op.offloadCost && !(residents >> i & 1) &&
                       live + op.sizeInBytes <= budget;
      if (canReload)
        reach(cost + *op.offloadCost, next, residents | 1u << i);
    }
  }
  return -1;
}

inline RecomputeProblem randomRecomputeProblem(int n, unsigned seed) {
  std::mt19937 random(seed);
  RecomputeProblem problem;
  for (int i = 0; i < n; ++i) {
    RecomputeOp op;
    op.cost = 1 + random() % 20;
    op.sizeInBytes = 1 + random() % 10;
    op.workspaceInBytes = random() % 4 == 0 ? random() % 5 : 0;
    op.pinned = random() % 8 == 0;
    op.recomputable = random() % 10 != 0;
    for (int input = 0; input < i; ++input)
      if (random() % 3 == 0 || (input + 1 == i && random() % 2))
        op.inputs.push_back(input);
    problem.ops.push_back(op);
  }
  for (RecomputeOp &op : problem.ops) // last, so that the rest is the same
    if (random() % 8 == 0)
      op.repeatWorkspaceInBytes = random() % 5;
  return problem;
}

/// The same problem; most ops may be offloaded.
inline RecomputeProblem withOffloading(RecomputeProblem problem,
                                       unsigned seed) {
  std::mt19937 random(seed);
  for (RecomputeOp &op : problem.ops)
    if (random() % 4 != 0)
      op.offloadCost = random() % 30;
  return problem;
}

} // namespace gpuopt::planning

#endif // GPUOPT_TEST_UNIT_PLANNING_BRUTEFORCE_H
