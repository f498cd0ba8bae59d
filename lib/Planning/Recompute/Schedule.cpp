//===- Schedule.cpp - What a schedule really costs ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/Schedule.h"

#include <algorithm>
#include <numeric>

using namespace gpuopt::planning;

/// Returns the rule that a reload breaks; `executed` ops have run.
static MaybeError checkReload(const RecomputeProblem &problem, int op,
                              int executed) {
  std::string name = "op " + std::to_string(op);
  if (op >= int(problem.ops.size()))
    return Error{name + " does not exist"};
  if (op >= executed)
    return Error{name + " is reloaded before it has run"};
  if (!problem.ops[op].offloadCost)
    return Error{name + " may not be offloaded"};
  return std::nullopt;
}

/// Sets, for each execution, the step of the last one that needs its storage,
/// and the step that made the storage. Returns the rule that is broken, if any.
static MaybeError findLifetimes(const RecomputeProblem &problem,
                                const Schedule &schedule,
                                std::vector<int> &lastUse,
                                std::vector<int> &madeAt) {
  int n = problem.ops.size(), steps = schedule.size(), expected = 0;
  std::vector<int> latest(n, -1);
  std::vector<char> isGone(steps, false);
  lastUse.resize(steps);
  madeAt.resize(steps);
  for (int step = 0; step < steps; ++step) {
    int index = schedule[step];
    auto at = [&] { return "step " + std::to_string(step) + ": op "; };
    if (isReload(index)) {
      if (MaybeError error = checkReload(problem, opOf(index), expected))
        return Error{"step " + std::to_string(step) + ": " + error->message};
      latest[opOf(index)] = madeAt[step] = lastUse[step] = step;
      continue;
    }
    if (index >= n)
      return Error{at() + std::to_string(index) + " does not exist"};
    if (index > expected)
      return Error{at() + std::to_string(index) + " runs before op " +
                   std::to_string(expected) + " has run"};
    const RecomputeOp &op = problem.ops[index];
    if (index < expected && !op.recomputable)
      return Error{at() + std::to_string(index) + " may not run again"};
    expected += index == expected;
    if (op.overwrites) {
      if (isGone[latest[op.storage]])
        return Error{at() + std::to_string(index) + " reads op " +
                     std::to_string(op.storage) +
                     ", which it has overwritten before"};
      isGone[latest[op.storage]] = true;
    }
    madeAt[step] = op.storage < 0 ? step : madeAt[latest[op.storage]];
    for (int input : op.inputs) // it has run, since the order is topological
      lastUse[madeAt[latest[input]]] = step;
    lastUse[madeAt[step]] = step;
    latest[index] = step;
  }
  if (expected != n)
    return Error{"op " + std::to_string(expected) + " never runs"};
  for (int index = 0; index < n; ++index)
    if (problem.ops[index].pinned)
      lastUse[madeAt[latest[index]]] = steps - 1;
  return std::nullopt;
}

Result<ScheduleCost> gpuopt::planning::simulate(const RecomputeProblem &problem,
                                                const Schedule &schedule) {
  if (schedule.size() > size_t(INT32_MAX))
    return Error{"the schedule is longer than 2^31 - 1 steps"};
  std::vector<int> lastUse, madeAt;
  if (MaybeError error = findLifetimes(problem, schedule, lastUse, madeAt))
    return *error;
  std::vector<int64_t> freed(schedule.size() + 1, 0);
  std::vector<char> seen(problem.ops.size(), false);
  ScheduleCost result;
  int64_t live = 0;
  for (size_t step = 0; step < schedule.size(); ++step) {
    int index = opOf(schedule[step]);
    const RecomputeOp &op = problem.ops[index];
    live -= freed[step];
    if (madeAt[step] == int(step)) {
      int64_t bytes = problem.ops[problem.storageOf(index)].sizeInBytes;
      live += bytes;
      freed[lastUse[step] + 1] += bytes;
    }
    if (isReload(schedule[step])) {
      result.peakInBytes = std::max(result.peakInBytes, live);
      result.addedCost += *op.offloadCost;
      continue;
    }
    bool isRepeat = seen[index];
    seen[index] = true;
    int64_t workspace = isRepeat ? op.repeatWorkspace() : op.workspaceInBytes;
    result.peakInBytes = std::max(result.peakInBytes, live + workspace);
    if (isRepeat)
      result.addedCost += op.cost;
  }
  return result;
}

Schedule gpuopt::planning::withoutStaleRepeats(const RecomputeProblem &problem,
                                               const Schedule &schedule) {
  std::vector<int> latest(problem.ops.size(), -1);
  std::vector<char> isGone(schedule.size(), false);
  Schedule result;
  for (size_t step = 0; step < schedule.size(); ++step) {
    const RecomputeOp &op = problem.ops[opOf(schedule[step])];
    bool overwrites = op.overwrites && !isReload(schedule[step]);
    if (overwrites && isGone[latest[op.storage]])
      continue; // its output lies in that one
    if (overwrites)
      isGone[latest[op.storage]] = true;
    latest[opOf(schedule[step])] = step;
    result.push_back(schedule[step]);
  }
  return result;
}

Schedule gpuopt::planning::plainOrder(const RecomputeProblem &problem) {
  Schedule schedule(problem.ops.size());
  std::iota(schedule.begin(), schedule.end(), 0);
  return schedule;
}

int64_t gpuopt::planning::plainPeak(const RecomputeProblem &problem) {
  return simulate(problem, plainOrder(problem))->peakInBytes;
}

MaybeError gpuopt::planning::verify(const RecomputeProblem &problem,
                                    const Schedule &schedule,
                                    int64_t budgetInBytes) {
  if (MaybeError error = problem.check())
    return error;
  Result<ScheduleCost> cost = simulate(problem, schedule);
  if (!cost)
    return cost.error();
  if (cost->peakInBytes > budgetInBytes)
    return Error{"the peak of " + std::to_string(cost->peakInBytes) +
                 " bytes exceeds the budget of " +
                 std::to_string(budgetInBytes)};
  return std::nullopt;
}
