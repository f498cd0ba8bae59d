//===- RecomputeCommand.cpp - gpuopt-solve recompute ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

static double percent(double cost, double total) {
  return total > 0 ? 100 * cost / total : 0;
}

static int explainInfeasible(const RecomputeSolution &solution,
                             int64_t budget) {
  llvm::errs() << "gpuopt-solve: error: memory budget " << budget
               << " bytes cannot be met: the smallest that can is "
               << solution.smallestBudgetFound
               << " bytes, the proven lower limit " << solution.budgetLowerLimit
               << " bytes\n";
  return NoSchedule;
}

int solve::recompute(const CommandOptions &options) {
  Result<RecomputeProblem> problem = readGraph(options.input);
  if (!problem)
    return fail(problem.error().message);
  int64_t plain = plainPeak(*problem);
  Result<int64_t> budget = parseBudget(options.budget, plain);
  if (!budget)
    return fail(budget.error().message);
  RecomputeOptions solver;
  solver.budgetInBytes = *budget;
  solver.threads = options.threads;
  if (options.effort >= 0)
    solver.effort = options.effort;
  if (options.timeLimitInSeconds > 0)
    solver.timeLimitInSeconds = options.timeLimitInSeconds;
  Result<RecomputeSolution> solution = solveRecompute(*problem, solver);
  if (!solution)
    return fail(solution.error().message);
  if (!solution->found)
    return explainInfeasible(*solution, *budget);
  if (MaybeError error = verify(*problem, solution->schedule, *budget))
    return fail("the plan is wrong, which is a bug: " + error->message);
  double total = problem->totalCost();
  PlanFile plan{*budget,
                solution->peakInBytes,
                percent(solution->addedCost, total),
                percent(solution->lowerBound, total),
                solution->schedule,
                solution->certificate};
  if (!options.output.empty())
    if (MaybeError error = writePlan(options.output, plan))
      return fail(error->message);
  llvm::raw_ostream &out = options.output == "-" ? llvm::errs() : llvm::outs();
  out << "budget_bytes=" << *budget << " peak_bytes=" << plan.peakInBytes
      << llvm::format(" added_percent=%.4f lower_bound_percent=%.4f",
                      plan.addedPercent, plan.lowerBoundPercent)
      << " executions=" << plan.schedule.size() << "\n";
  return Success;
}
