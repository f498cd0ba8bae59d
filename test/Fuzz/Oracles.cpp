//===- Oracles.cpp - What must hold of every answer -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Oracles.h"
#include "Checks.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

using namespace gpuopt;
using namespace gpuopt::planning;

void fuzz::expect(bool holds, const char *what) {
  if (holds)
    return;
  std::fprintf(stderr, "expected: %s\n", what);
  std::abort();
}

namespace {
/// One execution of a valid schedule, or a reload.
struct Execution {
  int op = 0;
  int storage = 0; ///< The step that made its storage.
  int lastUse = 0; ///< The last step that reads its output.
};
} // namespace

static std::vector<Execution> executions(const RecomputeProblem &problem,
                                         const Schedule &schedule) {
  std::vector<Execution> result;
  auto latest = [&](int op) {
    int step = result.size() - 1;
    while (result[step].op != op)
      --step;
    return step;
  };
  int steps = schedule.size();
  for (int step = 0; step < steps; ++step) {
    if (isReload(schedule[step])) {
      result.push_back({opOf(schedule[step]), step, step});
      continue;
    }
    const RecomputeOp &op = problem.ops[schedule[step]];
    int storage = op.storage < 0 ? step : result[latest(op.storage)].storage;
    for (int input : op.inputs)
      result[latest(input)].lastUse = step;
    result.push_back({schedule[step], storage, step});
  }
  for (size_t op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].pinned)
      result[latest(int(op))].lastUse = steps - 1;
  return result;
}

/// The op that makes the storage at first: what is reloaded takes as much.
static int firstInStorage(const RecomputeProblem &problem, int op) {
  int storage = problem.ops[op].storage;
  return storage < 0 ? op : firstInStorage(problem, storage);
}

void fuzz::expectTrueCost(const RecomputeProblem &problem,
                          const Schedule &schedule) {
  Result<ScheduleCost> cost = simulate(problem, schedule);
  if (!cost)
    return;
  std::vector<Execution> all = executions(problem, schedule);
  std::set<int> done;
  int64_t peak = 0;
  double added = 0;
  for (int step = 0; step < int(all.size()); ++step) {
    std::set<int> alive;
    for (int maker = 0; maker <= step; ++maker)
      if (all[maker].lastUse >= step)
        alive.insert(all[maker].storage);
    const RecomputeOp &op = problem.ops[all[step].op];
    bool isFirst = done.insert(all[step].op).second;
    bool reloads = isReload(schedule[step]);
    int64_t bytes = reloads   ? 0
                    : isFirst ? op.workspaceInBytes
                              : op.repeatWorkspace();
    for (int storage : alive)
      bytes +=
          problem.ops[firstInStorage(problem, all[storage].op)].sizeInBytes;
    peak = std::max(peak, bytes);
    added += reloads ? *op.offloadCost : isFirst ? 0 : op.cost;
  }
  expect(peak == cost->peakInBytes, "the peak of the schedule");
  expect(added == cost->addedCost, "the added cost of the schedule");
}

RecomputeSolution fuzz::solveAndCheck(const RecomputeProblem &problem,
                                      int64_t budget) {
  RecomputeOptions options;
  options.budgetInBytes = budget;
  options.effort = 300;
  options.findSmallestBudget = false; // takes a fixed effort of its own
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  expect(bool(solution), "an answer to a problem that passes its check");
  if (!solution->certificate.isEmpty())
    expect(bool(checkCertificate(problem, budget, solution->certificate)),
           "a certificate that is accepted");
  if (!solution->found)
    return *solution;
  expect(solution->budgetLowerLimit <= budget, "a limit that no plan is below");
  expectTrueCost(problem, solution->schedule);
  double total = problem.totalCost();
  Result<solve::PlanFile> plan =
      solve::parsePlan(printPlan({budget, solution->peakInBytes,
                                  solve::percent(solution->addedCost, total),
                                  solve::percent(solution->lowerBound, total),
                                  solution->schedule, solution->certificate}));
  expect(bool(plan), "a plan that can be read again");
  Result<solve::PlanFigures> figures = solve::checkPlan(problem, *plan);
  expect(bool(figures), "a plan that passes verify");
  expect(figures->lowerBoundPercent <= figures->addedPercent + 1e-7,
         "a bound that the plan does not beat");
  return *solution;
}
