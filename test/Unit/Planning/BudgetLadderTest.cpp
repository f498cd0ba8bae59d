//===- BudgetLadderTest.cpp - Tests of plans over budgets -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"
#include "TrainingChain.h"
#include "gpuopt/Planning/Recompute/LadderStore.h"

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

/// What one call reports as the least, another meets, and nothing below it.
TEST(BudgetLadder, MeetsTheLeastPeak) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    RecomputeProblem problem = randomChain(20 + 2 * seed, seed);
    RecomputeOptions options;
    options.effort = 2000;
    int64_t least = BudgetLadder(problem, options).solve(1).smallestBudgetFound;
    ASSERT_GT(least, 0);
    RecomputeSolution at = BudgetLadder(problem, options).solve(least);
    EXPECT_TRUE(at.found);
    EXPECT_FALSE(verify(problem, at.schedule, least));
    EXPECT_FALSE(BudgetLadder(problem, options).solve(least - 1).found);
    for (int64_t more : {least + 1, least + least / 50, least + least / 10}) {
      RecomputeSolution above = BudgetLadder(problem, options).solve(more);
      EXPECT_TRUE(above.found);
      EXPECT_LE(above.addedCost, at.addedCost);
    }
  }
}

void expectRungsGetNoCheaper(const RecomputeProblem &problem, int64_t effort) {
  RecomputeOptions options;
  options.effort = effort;
  BudgetLadder ladder(problem, options);
  double last = 0;
  int index = 0;
  for (; ladder.planOf(index).found(); ++index) {
    const LadderPlan &plan = ladder.planOf(index);
    EXPECT_FALSE(verify(problem, plan.schedule, ladder.budgetOf(index)));
    EXPECT_GE(plan.addedCost, last - 1e-9) << index;
    last = plan.addedCost;
  }
  EXPECT_LT(ladder.budgetOf(index), ladder.leastPlan().peakInBytes);
}

TEST(BudgetLadder, RungsGetNoCheaperOnTheWayDown) {
  expectRungsGetNoCheaper(randomChain(30, 7), 2000);
  for (unsigned seed = 1; seed <= 60; ++seed)
    expectRungsGetNoCheaper(randomChain(40, seed), 200);
}

/// Below where anything else helps, on a chain and its way back.
TEST(BudgetLadder, MeetsSmallBudgetsOfLongChains) {
  RecomputeProblem problem = trainingChain(200);
  RecomputeOptions options;
  options.effort = 2000;
  RecomputeSolution solution = BudgetLadder(problem, options).solve(10);
  EXPECT_TRUE(solution.found);
  EXPECT_FALSE(verify(problem, solution.schedule, 10));
}

/// As where plans do not pack as tightly as they might.
TEST(BudgetLadder, GoesDownToWhatIsAccepted) {
  RecomputeProblem problem = randomChain(30, 7);
  RecomputeOptions options;
  options.effort = 2000;
  int64_t budget = plainPeak(problem) * 99 / 100, offered = 0;
  double lastCost = -1;
  BudgetLadder ladder(problem, options);
  RecomputeSolution solution =
      ladder.solve(budget, [&](const LadderPlan &plan) {
        EXPECT_LE(plan.peakInBytes, budget);
        EXPECT_GE(plan.addedCost, lastCost - 1e-9);
        lastCost = plan.addedCost;
        return ++offered == 3;
      });
  EXPECT_TRUE(solution.found);
  EXPECT_EQ(solution.addedCost, lastCost);
  EXPECT_EQ(offered, 3);
  EXPECT_FALSE(
      ladder.solve(budget, [](const LadderPlan &) { return false; }).found);
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

/// What is found for one budget is at hand for others, and changes nothing.
TEST(LadderStore, HasOneLadderForEachProblem) {
  RecomputeProblem one = randomChain(30, 7), other = one;
  other.ops[3].sizeInBytes += 1;
  LadderStore store;
  BudgetLadder &ladder = store.ladderOf(one, 2000);
  EXPECT_EQ(&ladder, &store.ladderOf(RecomputeProblem(one), 2000));
  EXPECT_NE(&ladder, &store.ladderOf(other, 2000));
  EXPECT_NE(&ladder, &store.ladderOf(one, 2001));
  RecomputeOptions options;
  options.effort = 2000;
  int64_t peak = plainPeak(one);
  for (int percent : {90, 99, 80, 95}) {
    int64_t budget = peak * percent / 100;
    RecomputeSolution alone = BudgetLadder(one, options).solve(budget);
    RecomputeSolution shared = store.ladderOf(one, 2000).solve(budget);
    EXPECT_EQ(alone.schedule, shared.schedule);
    EXPECT_EQ(alone.lowerBound, shared.lowerBound);
  }
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
  EXPECT_FALSE(BudgetLadder(empty, options).leastPlan().found());
  EXPECT_TRUE(BudgetLadder(empty, options).solve(0).found);
}

} // namespace
