//===- NestedPlansTest.cpp - Tests of plans over narrow cuts --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Nested/NestedPlans.h"
#include "SolverChecks.h"
#include "TrainingChain.h"

using namespace gpuopt::planning;

namespace {

/// The cost of the cheapest plan for this budget that is within it; -1: none.
double cheapest(const RecomputeProblem &problem, int64_t budget) {
  Graph graph(problem);
  NestedPlans plans(graph, budget);
  double best = -1;
  for (int i = 0; i < plans.size(); ++i) {
    StagePlan plan(graph, budget, plans.plan(i));
    EXPECT_FALSE(verify(problem, plan.schedule(), plan.peak()));
    if (plan.peak() <= budget && (best < 0 || plan.addedCost() < best))
      best = plan.addedCost();
  }
  return best;
}

TEST(Segments, FollowTheChain) {
  Graph graph(trainingChain(8));
  Segments segments(graph, 64);
  ASSERT_EQ(segments.turningPoint(),
            8); // op 9 is the first that reads backwards
  ASSERT_EQ(segments.size(), 8);
  for (int s = 0; s < segments.size(); ++s) {
    EXPECT_EQ(segments.begin(s), s);
    EXPECT_EQ(segments.lastForwardUser(s), std::min(s + 1, 7));
    EXPECT_TRUE(segments.makesDroppable(s));
    if (s > 0)
      EXPECT_EQ(segments.crossing(s), std::vector<int>({s - 1}));
    if (s > 0) // op 15 - s reads op s
      EXPECT_EQ(segments.stretch(s), 15 - s + 1);
  }
  EXPECT_EQ(segments.stretch(0), 16);
}

/// A gradient that is made before the turning point and read at the end is no
/// part of any stretch.
TEST(Segments, KeepWhatIsReadLate) {
  RecomputeProblem problem = trainingChain(8);
  RecomputeOp late = problem.ops.back();
  late.inputs = {6, 15};
  problem.ops.push_back(late);
  Graph graph(problem);
  Segments segments(graph, 64);
  EXPECT_FALSE(segments.mayDrop(6));
  EXPECT_TRUE(segments.mayDrop(5));
  EXPECT_EQ(segments.stretch(5), 15 - 5 + 1);
}

/// Not every plan can be had from segments, nor is every peak estimated well:
/// the search goes on from here.
TEST(NestedPlans, AreNotFarFromTheOptimumOfChains) {
  int feasible = 0, found = 0;
  double costs = 0, optima = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    RecomputeProblem problem = trainingChain(3 + seed % 4, &random);
    int64_t peak = plainPeak(problem);
    for (int64_t budget = budgetLowerLimit(Graph(problem)); budget < peak;
         ++budget) {
      double optimum = bruteForceOptimum(problem, budget);
      if (optimum < 0)
        continue;
      ++feasible;
      double cost = cheapest(problem, budget);
      if (cost < 0)
        continue;
      ++found;
      ASSERT_GE(cost, optimum) << "seed " << seed;
      costs += cost;
      optima += optimum;
    }
  }
  EXPECT_GT(feasible, 100);
  EXPECT_GE(found, 0.7 * feasible);
  EXPECT_LE(costs, 1.3 * optima);
}

/// With s outputs kept, a chain of binomial(s + r, s) layers runs each of them
/// at most r times again (Griewank and Walther, Algorithm 799).
TEST(NestedPlans, RepeatRepeatsOnDeepChains) {
  RecomputeProblem problem = trainingChain(120);
  Graph graph(problem);
  double before = 0;
  for (int64_t budget : {40, 24, 12, 8}) {
    double cost = cheapest(problem, budget);
    EXPECT_GT(cost, before) << "budget " << budget;
    before = cost;
  }
  // 4 of 8 bytes are kept: binomial(4 + 5, 4) = 126.
  EXPECT_LE(before, 5 * 120);
}

/// Sizes that are far above the budget are above every level.
TEST(NestedPlans, TakeLargeSizes) {
  RecomputeProblem problem = trainingChain(20);
  for (int i = 0; i < 20; ++i)
    problem.ops[i].sizeInBytes = int64_t(1) << 55;
  EXPECT_EQ(cheapest(problem, 1), -1);
}

/// No other start of the search is within this budget.
TEST(NestedPlans, MeetSmallBudgets) {
  RecomputeOptions options;
  options.budgetInBytes = 10;
  options.effort = 1000;
  options.findSmallestBudget = false;
  RecomputeProblem problem = trainingChain(200);
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_FALSE(verify(problem, solution->schedule, options.budgetInBytes));
}

} // namespace
