//===- OffloadTest.cpp - Tests of offloading in the recompute solver ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Graph.h"
#include "Recompute/Search/StagePlan.h"
#include "SolverChecks.h"

using namespace gpuopt::planning;

namespace {

/// a -> b -> c -> d -> e of 10 bytes each, where e reads a too. While c and d
/// run, a is held, executed again or reloaded.
RecomputeProblem chain() {
  RecomputeProblem problem;
  for (int i = 0; i < 5; ++i) {
    RecomputeOp op;
    op.cost = 4;
    op.sizeInBytes = 10;
    if (i > 0)
      op.inputs.push_back(i - 1);
    problem.ops.push_back(op);
  }
  problem.ops[2].workspaceInBytes = 10;
  problem.ops[4].inputs = {0, 3};
  problem.ops[0].offloadCost = 3;
  return problem;
}

TEST(SimulateReload, CountsBytesAndCost) {
  RecomputeProblem problem = chain();
  EXPECT_EQ(plainPeak(problem), 40);
  Schedule schedule{0, 1, 2, 3, reloadOf(0), 4};
  EXPECT_EQ(simulate(problem, schedule)->peakInBytes, 30);
  EXPECT_EQ(simulate(problem, schedule)->addedCost, 3);
  // Too early, the copy is alive with c and its workspace.
  schedule = {0, 1, reloadOf(0), 2, 3, 4};
  EXPECT_EQ(simulate(problem, schedule)->peakInBytes, 40);
}

TEST(SimulateReload, SaysWhichRuleIsBroken) {
  RecomputeProblem problem = chain();
  auto error = [&](const Schedule &schedule) {
    return simulate(problem, schedule).error().message;
  };
  EXPECT_EQ(error({reloadOf(0), 0, 1, 2, 3, 4}),
            "step 0: op 0 is reloaded before it has run");
  EXPECT_EQ(error({0, 1, 2, reloadOf(1), 3, 4}),
            "step 3: op 1 may not be offloaded");
  EXPECT_EQ(error({0, 1, reloadOf(9), 2, 3, 4}), "step 2: op 9 does not exist");
}

TEST(SimulateReload, KnowsResultsInPlace) {
  RecomputeProblem problem = chain();
  problem.ops[0].offloadCost.reset();
  problem.ops[1].storage = 0; // b takes the place of a, and is read by e
  problem.ops[1].overwrites = true;
  problem.ops[4].inputs = {1, 3};
  problem.ops[1].sizeInBytes = 0;
  problem.ops[1].offloadCost = 3;
  ASSERT_FALSE(problem.check());
  EXPECT_EQ(plainPeak(problem), 30);
  Schedule schedule{0, 1, 2, 3, reloadOf(1), 4};
  EXPECT_EQ(simulate(problem, schedule)->peakInBytes, 30); // d, e and b's copy
  problem.ops[4].sizeInBytes = 0;
  EXPECT_EQ(simulate(problem, schedule)->peakInBytes, 30); // a, c, workspace
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, reloadOf(1), 1, 4}).error().message,
            "step 5: op 1 reads op 0, which it has overwritten before");
}

TEST(CheckProblem, RefusesToOffloadWhatDoesNotStay) {
  RecomputeProblem problem = chain();
  problem.ops[0].offloadCost = -1;
  EXPECT_EQ(problem.check()->message,
            "op 0 expects a finite offload cost of at "
            "least 0, but got -1.000000");
  problem = chain();
  problem.ops[1].storage = 0;
  problem.ops[1].offloadCost = 1;
  EXPECT_EQ(problem.check()->message,
            "op 1 may be offloaded, but is a view of op 0");
  problem.ops[1].overwrites = true;
  problem.ops[4].inputs = {3};
  EXPECT_EQ(problem.check()->message,
            "op 1 overwrites op 0, which may be offloaded");
  // Reloaded, a result in place lies in a storage of its own.
  problem = chain();
  problem.ops[0].sizeInBytes = INT64_MAX / 7;
  problem.ops[1].storage = 0;
  problem.ops[1].overwrites = true;
  problem.ops[1].offloadCost = 1;
  problem.ops[4].inputs = {3};
  EXPECT_EQ(problem.check()->message,
            "op 1 makes the sum of all sizes overflow");
  problem = chain();
  problem.ops[0].offloadCost = 1e300;
  EXPECT_EQ(problem.check()->message, "the sum of all costs overflows");
}

/// Storages that are shared at random, by views and by results in place.
void shareStorages(RecomputeProblem &problem, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<int> readers(problem.ops.size(), 0);
  for (const RecomputeOp &op : problem.ops)
    for (int input : op.inputs)
      ++readers[input];
  for (RecomputeOp &op : problem.ops) {
    if (op.inputs.empty() || random() % 3 != 0)
      continue;
    int input = op.inputs[random() % op.inputs.size()];
    RecomputeOp &shared = problem.ops[input];
    op.storage = input;
    op.sizeInBytes = shared.sizeInBytes;
    bool isView = shared.storage >= 0 && !shared.overwrites;
    op.overwrites = readers[input] == 1 && !shared.pinned && !isView;
    if (op.overwrites)
      shared.offloadCost.reset();
    else
      op.offloadCost.reset();
  }
}

/// Random changes keep the plan's books in step with the simulator.
TEST(StagePlanWithReloads, AgreesWithTheSimulator) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RecomputeProblem problem =
        withOffloading(randomRecomputeProblem(12, seed), seed);
    if (seed % 2)
      shareStorages(problem, seed);
    ASSERT_FALSE(problem.check()) << problem.check()->message;
    Graph graph(problem);
    StagePlan plan(graph, 20);
    std::mt19937 random(seed);
    for (int change = 0; change < 100; ++change) {
      int stage = random() % 12, op = random() % 12;
      bool isReload = random() % 2;
      if (op >= stage)
        continue;
      if (plan.has({stage, op}))
        plan.remove({stage, op});
      else if (isReload ? graph.mayReload(op)
                        : graph.recomputable[op] && !problem.ops[op].overwrites)
        plan.insert({stage, op, isReload});
      Result<ScheduleCost> cost = simulate(problem, plan.schedule());
      ASSERT_TRUE(cost) << cost.error().message;
      ASSERT_EQ(cost->peakInBytes, plan.peak()) << "seed " << seed;
      ASSERT_EQ(cost->addedCost, plan.addedCost());
      StagePlan fresh(graph, 20, plan.repeats());
      ASSERT_EQ(fresh.excess(), plan.excess());
    }
  }
}

TEST(SolveWithOffload, AgreesWithBruteForceOnSmallGraphs) {
  Tally tally;
  for (unsigned seed = 0; seed < countOfComparedGraphs(); ++seed) {
    std::mt19937 random(seed);
    RecomputeProblem problem =
        withOffloading(randomRecomputeProblem(4 + random() % 6, seed), seed);
    compareWithBruteForce(
        problem, plainPeak(problem) * (50 + random() % 50) / 100, seed, tally);
  }
  printf("%d solved, %d optimal, %d missed, bounds are %.3f of the optima\n",
         tally.solved, tally.optimal, tally.missed,
         tally.bounds / tally.optima);
  EXPECT_GT(tally.solved, 400);
  EXPECT_GE(tally.optimal, 0.98 * tally.solved);
}

/// With shared storages there is no brute force, but no proof may exceed a
/// plan.
TEST(CertificateWithOffload, ProvesNoMoreThanThePlanCosts) {
  int solved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RecomputeProblem problem =
        withOffloading(randomRecomputeProblem(14, seed), seed);
    shareStorages(problem, seed);
    compareProofWithPlan(problem, plainPeak(problem) * (75 + seed % 20) / 100,
                         seed, solved);
  }
  EXPECT_GT(solved, 60);
}

/// What the flows prove without offloading is more than a reload costs: with
/// it, they prove nothing.
TEST(CertificateWithOffload, IsRefusedAboveTheOffloadCost) {
  RecomputeProblem problem = chain();
  problem.ops[0].offloadCost.reset();
  RecomputeOptions options;
  options.budgetInBytes = 30;
  options.effort = 1000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_EQ(solution->addedCost, 4);
  Certificate certificate = solution->certificate;
  EXPECT_NEAR(*checkCertificate(problem, 30, certificate), 4, 1e-6);
  EXPECT_EQ(checkCertificate(problem, 1, certificate).error().message,
            "a time point's working set exceeds the budget");
  problem.ops[0].offloadCost = 3;
  Result<double> proven = checkCertificate(problem, 30, certificate);
  ASSERT_FALSE(proven);
  EXPECT_EQ(proven.error().message,
            "the flows of kind 2 at op 0 exceed its offload cost");
  solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_EQ(solution->addedCost, 3);
  EXPECT_EQ(solution->schedule, Schedule({0, 1, 2, 3, reloadOf(0), 4}));
  EXPECT_NEAR(*checkCertificate(problem, 30, solution->certificate), 3, 1e-6);
}

/// What cannot be computed again can still be offloaded, and the limit below
/// which no budget is tried knows it.
TEST(SolveWithOffload, BringsBackWhatCannotRunAgain) {
  RecomputeProblem problem = chain();
  problem.ops[0].recomputable = false;
  RecomputeOptions options;
  options.budgetInBytes = 30;
  options.effort = 1000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_EQ(solution->addedCost, 3);
  problem.ops[0].offloadCost.reset();
  solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  EXPECT_FALSE(solution->found);
  EXPECT_EQ(solution->budgetLowerLimit, 40);
}

} // namespace
