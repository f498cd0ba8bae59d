//===- LadderStore.h - One ladder for each problem --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A program that asks for one problem's plans within many budgets, as for the
// curve of budget against time, uses one ladder for all of them. The answers of
// a ladder do not depend on earlier questions, so neither do the plans.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_LADDERSTORE_H
#define GPUOPT_PLANNING_RECOMPUTE_LADDERSTORE_H

#include "gpuopt/Planning/Recompute/BudgetLadder.h"

#include <memory>
#include <string>

namespace gpuopt::planning {

class LadderStore {
public:
  /// Expects a problem that passes its check. The ladder lives as long as the
  /// store, and keeps a problem of its own.
  BudgetLadder &ladderOf(const RecomputeProblem &problem, int64_t effort);

private:
  struct Entry {
    Entry(const RecomputeProblem &problem, int64_t effort);
    RecomputeProblem problem;
    BudgetLadder ladder;
  };
  /// By effort and the problem's text.
  std::map<std::pair<int64_t, std::string>, std::unique_ptr<Entry>> entries;
};

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_LADDERSTORE_H
