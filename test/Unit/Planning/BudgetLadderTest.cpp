//===- BudgetLadderTest.cpp - Tests of plans over budgets -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/BudgetLadder.h"
#include "BruteForce.h"

#include <gtest/gtest.h>

using namespace gpuopt::planning;

namespace {

/// Ops that read the one before and some earlier one; sizes with room between
/// the rungs.
RecomputeProblem randomChain(int n, unsigned seed) {
  RecomputeProblem problem = randomRecomputeProblem(n, seed);
  std::mt19937 random(seed);
  for (int i = 0; i < n; ++i) {
    RecomputeOp &op = problem.ops[i];
    op.sizeInBytes = 1 + random() % 2000;
    op.workspaceInBytes = 0;
    op.repeatWorkspaceInBytes.reset();
    op.inputs.clear();
    op.pinned = false;
    op.recomputable = true;
    if (i > 0)
      op.inputs.push_back(i - 1);
    if (i > 1 && random() % 2)
      op.inputs.push_back(random() % (i - 1));
  }
  return problem;
}

/// How often less memory costs less, over budgets from 95 % of the plain peak
/// down, each solved by a call of its own.
template <typename Solve>
int countFalls(const RecomputeProblem &problem, int &met, Solve solve) {
  int64_t plain = plainPeak(problem);
  double most = 0;
  int falls = 0;
  for (int i = 0; i < 20; ++i) {
    int64_t budget = plain * (9500 - 226 * i) / 10000;
    RecomputeSolution solution = solve(budget);
    if (!solution.found)
      continue;
    ++met;
    EXPECT_FALSE(verify(problem, solution.schedule, budget));
    EXPECT_LE(solution.lowerBound, solution.addedCost);
    if (!solution.certificate.isEmpty()) {
      Result<double> proven =
          checkCertificate(problem, budget, solution.certificate);
      EXPECT_TRUE(proven);
      EXPECT_NEAR(std::min(*proven, solution.addedCost), solution.lowerBound,
                  1e-9 * problem.totalCost());
    }
    falls += solution.addedCost < most - 1e-9;
    most = std::max(most, solution.addedCost);
  }
  return falls;
}

/// Single searches do fall, on these problems ten times.
TEST(BudgetLadder, LessMemoryNeverCostsLessBetweenCalls) {
  int falls = 0, fallsOfSearches = 0, met = 0;
  for (unsigned seed : {1, 2}) {
    RecomputeProblem problem = randomChain(24 + 2 * seed, seed);
    RecomputeOptions options;
    options.effort = 600;
    options.findSmallestBudget = false;
    falls += countFalls(problem, met, [&](int64_t budget) {
      return BudgetLadder(problem, options).solve(budget);
    });
    fallsOfSearches += countFalls(problem, met, [&](int64_t budget) {
      options.budgetInBytes = budget;
      return *solveRecompute(problem, options);
    });
  }
  printf("%d falls, %d of single searches, %d plans\n", falls, fallsOfSearches,
         met);
  EXPECT_GT(met, 30);
  EXPECT_GT(fallsOfSearches, 5);
  EXPECT_EQ(falls, 0);
}

TEST(BudgetLadder, HasFractionsAsRungs) {
  RecomputeProblem problem;
  problem.ops.resize(1);
  problem.ops[0].sizeInBytes = 1000000;
  BudgetLadder ladder(problem, {});
  EXPECT_EQ(ladder.budgetOf(0), 1000000);
  EXPECT_EQ(ladder.budgetOf(1), 995000);
  EXPECT_EQ(ladder.budgetOf(20), 900000);
  EXPECT_EQ(ladder.budgetOf(100), 500000);
  EXPECT_EQ(ladder.budgetOf(180), 300000);
  EXPECT_EQ(ladder.budgetOf(100 * 63), 0);
}

TEST(BudgetLadder, TakesBudgetsOfAllSizes) {
  RecomputeProblem problem = randomChain(12, 1);
  RecomputeOptions options;
  options.effort = 2000;
  BudgetLadder ladder(problem, options);
  EXPECT_FALSE(ladder.solve(0).found);
  EXPECT_FALSE(ladder.solve(1).found);
  EXPECT_GT(ladder.solve(1).smallestBudgetFound, 1);
  EXPECT_EQ(ladder.solve(plainPeak(problem)).addedCost, 0);
  EXPECT_EQ(ladder.solve(INT64_MAX / 2).addedCost, 0);
  RecomputeProblem empty;
  EXPECT_TRUE(BudgetLadder(empty, options).solve(0).found);
}

} // namespace
