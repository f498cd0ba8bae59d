//===- RecomputeCommand.cpp - gpuopt-solve recompute ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"

#include "gpuopt/Planning/Recompute/BudgetCurve.h"
#include "gpuopt/Planning/Recompute/BudgetLadder.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

/// Budgets of a curve.
static constexpr int curvePoints = 20;

static int explainInfeasible(const RecomputeSolution &solution,
                             int64_t budget) {
  llvm::errs() << "gpuopt-solve: error: memory budget " << budget
               << " bytes cannot be met: the smallest budget found is "
               << solution.smallestBudgetFound
               << " bytes, and the proven lower limit is "
               << solution.budgetLowerLimit << " bytes\n";
  return NoSchedule;
}

static RecomputeOptions solverOptions(const CommandOptions &options) {
  RecomputeOptions solver;
  solver.threads = options.threads;
  if (options.effort >= 0)
    solver.effort = std::max(1ll, options.effort);
  if (options.timeLimitInSeconds > 0)
    solver.timeLimitInSeconds = options.timeLimitInSeconds;
  return solver;
}

/// Where the summary goes: the solution itself may be standard output.
static llvm::raw_ostream &summary(const CommandOptions &options) {
  return options.output == "-" ? llvm::errs() : llvm::outs();
}

static llvm::json::Array scheduleArray(const Schedule &schedule) {
  llvm::json::Array result;
  for (int entry : schedule) {
    if (isReload(entry))
      result.push_back(llvm::json::Object{{"reload", opOf(entry)}});
    else
      result.push_back(entry);
  }
  return result;
}

static int solveCurve(const RecomputeProblem &problem,
                      const CommandOptions &options) {
  RecomputeOptions solver = solverOptions(options);
  if (solver.effort == 0 && !solver.timeLimitInSeconds)
    solver.effort = 50'000;
  Result<std::vector<CurvePoint>> points =
      solveBudgetCurve(problem, curvePoints, solver);
  if (!points)
    return fail(points.error().message);
  double total = problem.totalCost();
  llvm::json::Array rows;
  for (const CurvePoint &point : *points) {
    if (MaybeError error =
            verify(problem, point.solution.schedule, point.budgetInBytes))
      return fail("a plan is wrong, which is a bug: " + error->message);
    double added = percent(point.solution.addedCost, total);
    double bound = percent(point.solution.lowerBound, total);
    rows.push_back(llvm::json::Object{
        {"budget_bytes", point.budgetInBytes},
        {"peak_bytes", point.solution.peakInBytes},
        {"added_percent", added},
        {"lower_bound_percent", bound},
        {"schedule", scheduleArray(point.solution.schedule)}});
    summary(options) << "budget_bytes=" << point.budgetInBytes
                     << " peak_bytes=" << point.solution.peakInBytes
                     << llvm::format(
                            " added_percent=%.4f lower_bound_percent=%.4f\n",
                            added, bound);
  }
  if (options.output.empty())
    return Success;
  std::string contents;
  llvm::raw_string_ostream(contents)
      << llvm::json::Value(llvm::json::Object{{"points", std::move(rows)}})
      << "\n";
  if (MaybeError error = writeFile(options.output, contents))
    return fail(error->message);
  return Success;
}

/// In larger graphs, plans for other budgets take too long.
static constexpr size_t mostOpsForLadder = 10'000;

/// With a time limit, results depend on the machine, and nothing can be said
/// of the cost of another budget.
static Result<RecomputeSolution> solveFor(const RecomputeProblem &problem,
                                          const RecomputeOptions &options) {
  if (options.timeLimitInSeconds)
    return solveRecompute(problem, options);
  if (problem.ops.size() > mostOpsForLadder) {
    llvm::errs() << "gpuopt-solve: note: with more than " << mostOpsForLadder
                 << " ops, this budget alone is searched; a plan for a smaller "
                    "one is not known to cost more\n";
    return solveRecompute(problem, options);
  }
  if (MaybeError error = problem.check())
    return *error;
  return BudgetLadder(problem, options).solve(options.budgetInBytes);
}

int solve::recompute(const CommandOptions &options) {
  Result<RecomputeProblem> problem = readGraph(options.input);
  if (!problem)
    return fail(problem.error().message);
  if (options.curve)
    return solveCurve(*problem, options);
  Result<int64_t> budget = parseBudget(options.budget, plainPeak(*problem));
  if (!budget)
    return fail(budget.error().message);
  RecomputeOptions solver = solverOptions(options);
  solver.budgetInBytes = *budget;
  Result<RecomputeSolution> solution = solveFor(*problem, solver);
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
  summary(options) << "budget_bytes=" << *budget
                   << " peak_bytes=" << plan.peakInBytes
                   << llvm::format(
                          " added_percent=%.4f lower_bound_percent=%.4f",
                          plan.addedPercent, plan.lowerBoundPercent)
                   << " executions=" << plan.schedule.size() << "\n";
  return Success;
}
