//===- SolverChecks.h - What every solution must keep to --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TEST_UNIT_PLANNING_SOLVERCHECKS_H
#define GPUOPT_TEST_UNIT_PLANNING_SOLVERCHECKS_H

#include "BruteForce.h"
#include "gpuopt/Planning/Recompute/SolveRecompute.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace gpuopt::planning {

struct Tally {
  int solved = 0, optimal = 0, missed = 0, infeasible = 0;
  double bounds = 0, optima = 0;
};

/// Solves within `budget` bytes: the bound is not above the optimum, the plan
/// not below it, and both pass their checkers.
inline void compareWithBruteForce(const RecomputeProblem &problem,
                                  int64_t budget, unsigned seed, Tally &tally) {
  RecomputeOptions options;
  options.effort = 20000; // a hundredth of the default
  options.budgetInBytes = budget;
  double optimum = bruteForceOptimum(problem, budget);
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  if (optimum < 0) {
    ASSERT_FALSE(solution->found) << "seed " << seed;
    ++tally.infeasible;
    return;
  }
  ASSERT_LE(solution->budgetLowerLimit, budget);
  Result<double> proven =
      checkCertificate(problem, budget, solution->certificate);
  ASSERT_TRUE(proven) << "seed " << seed << ": " << proven.error().message;
  ASSERT_LE(*proven, optimum + 1e-9) << "seed " << seed;
  ASSERT_NEAR(*proven, solution->lowerBound, 1e-9);
  ++tally.solved;
  tally.missed += !solution->found;
  if (!solution->found)
    return;
  MaybeError error = verify(problem, solution->schedule, budget);
  ASSERT_FALSE(error) << error->message;
  ASSERT_GE(solution->addedCost, optimum - 1e-9) << "seed " << seed;
  tally.optimal += solution->addedCost <= optimum + 1e-9;
  tally.bounds += *proven;
  tally.optima += optimum;
}

/// How many graphs are compared: a minute for all, with GPUOPT_FULL_TESTS.
inline unsigned countOfComparedGraphs() {
  const char *full = std::getenv("GPUOPT_FULL_TESTS");
  return full && std::string(full) == "1" ? 10000 : 2000;
}

/// Where there is no brute force: no proof exceeds a plan. Counts what was
/// solved and proven.
inline void compareProofWithPlan(const RecomputeProblem &problem,
                                 int64_t budget, unsigned seed, int &solved) {
  RecomputeOptions options;
  options.budgetInBytes = budget;
  options.effort = 2000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  if (!solution->found || solution->certificate.isEmpty())
    return;
  ++solved;
  MaybeError error = verify(problem, solution->schedule, budget);
  ASSERT_FALSE(error) << "seed " << seed << ": " << error->message;
  Result<double> proven =
      checkCertificate(problem, budget, solution->certificate);
  ASSERT_TRUE(proven) << proven.error().message;
  ASSERT_LE(*proven, solution->addedCost + 1e-9) << "seed " << seed;
}

} // namespace gpuopt::planning

#endif // GPUOPT_TEST_UNIT_PLANNING_SOLVERCHECKS_H
