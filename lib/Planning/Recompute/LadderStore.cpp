//===- LadderStore.cpp - One ladder for each problem ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/LadderStore.h"
#include "gpuopt/Planning/Recompute/PlanText.h"

using namespace gpuopt::planning;

static RecomputeOptions optionsOf(int64_t effort) {
  RecomputeOptions options;
  options.effort = effort;
  options.findSmallestBudget = false;
  return options;
}

LadderStore::Entry::Entry(const RecomputeProblem &given, int64_t effort)
    : problem(given), ladder(problem, optionsOf(effort)) {}

BudgetLadder &LadderStore::ladderOf(const RecomputeProblem &problem,
                                    int64_t effort) {
  auto &entry = entries[{effort, printProblem(problem)}];
  if (!entry)
    entry = std::make_unique<Entry>(problem, effort);
  return entry->ladder;
}
