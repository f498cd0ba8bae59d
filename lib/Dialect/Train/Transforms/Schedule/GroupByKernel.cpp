//===- GroupByKernel.cpp - Schedules that a step can follow ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/GroupByKernel.h"

#include <algorithm>

using namespace gpuopt;
using planning::Schedule;

/// Returns the index after the last node of the op of `node`.
static int endOfOp(const StepGraph &graph, int node) {
  int end = node + 1;
  while (end < int(graph.nodes.size()) &&
         graph.nodes[end].op == graph.nodes[node].op)
    ++end;
  return end;
}

/// Moves the entries between the first executions of one op's results to before
/// them, and repeats of these results to after them.
static Schedule withResultsTogether(const StepGraph &graph,
                                    const Schedule &schedule) {
  Schedule result;
  int next = 0; // first executions are in order
  for (size_t i = 0; i < schedule.size(); ++i) {
    if (schedule[i] != next) {
      result.push_back(schedule[i]);
      continue;
    }
    int first = next, end = endOfOp(graph, first);
    Schedule after;
    for (; next < end; ++i) {
      if (schedule[i] == next)
        ++next;
      else if (planning::opOf(schedule[i]) < first)
        result.push_back(schedule[i]);
      else
        after.push_back(schedule[i]);
    }
    --i;
    for (int node = first; node < end; ++node)
      result.push_back(node);
    result.insert(result.end(), after.begin(), after.end());
  }
  return result;
}

/// Removes repeats that nothing reads before the next repeat, from the end on.
static Schedule withoutUnread(const planning::RecomputeProblem &problem,
                              const Schedule &schedule) {
  std::vector<char> isRead(problem.ops.size()), isFirst(schedule.size());
  int next = 0;
  for (size_t i = 0; i < schedule.size(); ++i)
    next += isFirst[i] = schedule[i] == next;
  for (size_t op = 0; op < problem.ops.size(); ++op)
    isRead[op] = problem.ops[op].pinned;
  Schedule reversed;
  for (size_t i = schedule.size(); i-- > 0;) {
    int op = planning::opOf(schedule[i]);
    if (!isFirst[i] && !isRead[op])
      continue;
    reversed.push_back(schedule[i]);
    isRead[op] = false;
    if (!planning::isReload(schedule[i]))
      for (int input : problem.ops[op].inputs)
        isRead[input] = true;
  }
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

Schedule train::groupByKernel(const StepGraph &graph,
                              const Schedule &schedule) {
  return withoutUnread(graph.problem, withResultsTogether(graph, schedule));
}
