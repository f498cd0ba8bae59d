//===- SolveRecomputeTest.cpp - Tests of the recompute solver -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Graph.h"
#include "Recompute/Search/StagePlan.h"
#include "SolverChecks.h"
#include "TrainingChain.h"

using namespace gpuopt::planning;

namespace {

/// a -> b -> c -> d -> e where d reads b and e reads a: a must be held over
/// b and c, or be computed again.
RecomputeProblem chain() {
  RecomputeProblem problem;
  for (int i = 0; i < 5; ++i) {
    RecomputeOp op;
    op.cost = 1;
    op.sizeInBytes = 10;
    if (i > 0)
      op.inputs.push_back(i - 1);
    problem.ops.push_back(op);
  }
  problem.ops[4].inputs = {0, 3};
  return problem;
}

TEST(Simulate, CountsWhatIsAlive) {
  RecomputeProblem problem = chain();
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, 4})->peakInBytes, 30);
  // Computed again just before its use, `a` is not held over b, c and d; at e
  // a, d and e are alive.
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, 0, 4})->peakInBytes, 30);
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, 0, 4})->addedCost, 1);
}

TEST(Simulate, SaysWhichRuleIsBroken) {
  RecomputeProblem problem = chain();
  EXPECT_EQ(simulate(problem, {0, 2}).error().message,
            "step 1: op 2 runs before op 1 has run");
  EXPECT_EQ(simulate(problem, {0, 1}).error().message, "op 2 never runs");
  EXPECT_EQ(simulate(problem, {0, 7}).error().message,
            "step 1: op 7 does not exist");
  problem.ops[0].recomputable = false;
  EXPECT_EQ(simulate(problem, {0, 1, 0}).error().message,
            "step 2: op 0 may not run again");
}

TEST(Simulate, SharedStoragesCountOnce) {
  RecomputeProblem problem = chain();
  problem.ops[1].storage = 0; // b is a view of a, so c's reading holds a
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, 4})->peakInBytes, 30);
  problem.ops[4].inputs = {3};
  EXPECT_EQ(simulate(problem, {0, 1, 2, 3, 4})->peakInBytes, 20);
}

TEST(CheckProblem, RefusesBadOps) {
  RecomputeProblem problem = chain();
  EXPECT_FALSE(problem.check());
  problem.ops[2].inputs = {3};
  EXPECT_EQ(problem.check()->message,
            "op 2 expects inputs before it, but reads op 3");
  problem = chain();
  problem.ops[2].cost = NAN;
  EXPECT_TRUE(problem.check());
  problem = chain();
  problem.ops[2].sizeInBytes = -1;
  EXPECT_TRUE(problem.check());
  problem = chain();
  problem.ops[1].sizeInBytes = problem.ops[2].sizeInBytes = INT64_MAX / 5;
  EXPECT_TRUE(problem.check());
  EXPECT_EQ(problem.check()->message,
            "op 2 makes the sum of all sizes overflow");
  problem = chain();
  problem.ops[1].storage = 0;
  problem.ops[1].sizeInBytes = problem.ops[0].sizeInBytes + 1;
  EXPECT_EQ(problem.check()->message,
            "op 1 is larger than the storage that it shares");
  problem = chain();
  problem.ops[1].inputs = {0, 0};
  EXPECT_EQ(problem.check()->message, "op 1 lists input 0 twice");
  problem = chain();
  problem.ops[2].cost = 1e308; // finite, but not in percent
  EXPECT_EQ(problem.check()->message, "the sum of all costs overflows");
}

/// a -> b -> c, d: b takes the place of a, and c and d read b.
RecomputeProblem overwriting() {
  RecomputeProblem problem;
  problem.ops.resize(4);
  for (RecomputeOp &op : problem.ops)
    op.cost = op.sizeInBytes = 1;
  problem.ops[0].sizeInBytes = problem.ops[1].sizeInBytes = 4;
  problem.ops[1].inputs = {0};
  problem.ops[1].storage = 0;
  problem.ops[1].overwrites = true;
  problem.ops[2].inputs = problem.ops[3].inputs = {1};
  return problem;
}

TEST(Simulator, KnowsWhatIsOverwritten) {
  RecomputeProblem problem = overwriting();
  ASSERT_FALSE(problem.check());
  EXPECT_EQ(plainPeak(problem), 5); // a and b are one
  EXPECT_FALSE(verify(problem, {0, 1, 2, 0, 1, 3}, 5));
  auto error = verify(problem, {0, 1, 2, 1, 3}, 5);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->message, "step 3: op 1 reads op 0, which it has "
                            "overwritten before");
  EXPECT_EQ(withoutStaleRepeats(problem, {0, 1, 2, 1, 3}), plainOrder(problem));
  EXPECT_EQ(withoutStaleRepeats(problem, {0, 1, 2, 0, 1, 3}),
            Schedule({0, 1, 2, 0, 1, 3}));
}

TEST(RecomputeProblem, RefusesToOverwriteWhatIsStillWanted) {
  RecomputeProblem problem = overwriting();
  problem.ops[3].inputs = {0, 1};
  EXPECT_EQ(problem.check()->message,
            "op 1 overwrites op 0, which has other readers");
  problem = overwriting();
  problem.ops[0].pinned = true;
  EXPECT_EQ(problem.check()->message, "op 1 overwrites op 0, which is pinned");
  problem = overwriting();
  problem.ops[1].storage = -1;
  EXPECT_EQ(problem.check()->message, "op 1 overwrites, but shares no storage");
  problem = overwriting();
  problem.ops[1].overwrites = false; // a view of a
  problem.ops[2].storage = 1;
  problem.ops[2].overwrites = true;
  problem.ops[3].inputs = {0};
  EXPECT_EQ(problem.check()->message,
            "op 2 overwrites op 1, which is a view of op 0");
}

/// Every op in two halves, the second of which takes the place of the first:
/// what it costs to meet a budget is the same.
RecomputeProblem halves(const RecomputeProblem &problem) {
  RecomputeProblem result;
  for (const RecomputeOp &op : problem.ops) {
    RecomputeOp first = op, second = op;
    first.cost = second.cost = op.cost / 2;
    first.pinned = false;
    for (int &input : first.inputs)
      input = 2 * input + 1;
    second.inputs = {int(result.ops.size())};
    second.storage = second.inputs[0];
    second.overwrites = true;
    second.recomputable = true; // if what it overwrites is
    result.ops.push_back(first);
    result.ops.push_back(second);
  }
  return result;
}

/// What overwrites an output that cannot be had again cannot either, and the
/// checker knows it.
TEST(Certificate, KnowsWhatCannotBeMadeAgain) {
  RecomputeProblem problem;
  problem.ops.resize(6);
  for (RecomputeOp &op : problem.ops)
    op.cost = 1;
  problem.ops[0].sizeInBytes = problem.ops[2].sizeInBytes = 100;
  problem.ops[0].recomputable = false;
  problem.ops[1].inputs = {0};
  problem.ops[1].storage = 0;
  problem.ops[1].overwrites = true;
  problem.ops[2].cost = 50;
  problem.ops[3].workspaceInBytes = 150;
  problem.ops[4].inputs = {1};
  problem.ops[5].inputs = {2};
  RecomputeOptions options;
  options.budgetInBytes = 300;
  options.effort = 1000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_GT(solution->lowerBound, 0);
  Result<double> proven =
      checkCertificate(problem, options.budgetInBytes, solution->certificate);
  ASSERT_TRUE(proven) << proven.error().message;
  EXPECT_NEAR(*proven, solution->lowerBound, 1e-6);
}

TEST(SolveRecompute, MakesAgainWhatWasOverwritten) {
  int feasible = 0, optimal = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    RecomputeProblem whole = randomRecomputeProblem(7, seed);
    for (RecomputeOp &op : whole.ops) {
      op.workspaceInBytes = 0; // each half would need it
      op.repeatWorkspaceInBytes.reset();
    }
    RecomputeProblem problem = halves(whole);
    ASSERT_FALSE(problem.check());
    ASSERT_EQ(plainPeak(problem), plainPeak(whole));
    RecomputeOptions options;
    options.budgetInBytes = plainPeak(problem) * (60 + seed % 35) / 100;
    options.effort = 20000;
    double optimum = bruteForceOptimum(whole, options.budgetInBytes);
    Result<RecomputeSolution> solution = solveRecompute(problem, options);
    ASSERT_TRUE(solution);
    if (optimum <= 0)
      continue;
    ++feasible;
    if (!solution->found)
      continue;
    auto error = verify(problem, solution->schedule, options.budgetInBytes);
    ASSERT_FALSE(error) << "seed " << seed << ": " << error->message;
    Result<double> proven =
        checkCertificate(problem, options.budgetInBytes, solution->certificate);
    if (!solution->certificate.isEmpty()) {
      ASSERT_TRUE(proven) << proven.error().message;
      ASSERT_LE(*proven, optimum + 1e-9) << "seed " << seed;
    }
    ASSERT_GE(solution->addedCost, optimum - 1e-9) << "seed " << seed;
    optimal += solution->addedCost <= optimum + 1e-9;
  }
  RecordProperty("optimal", optimal);
  EXPECT_GT(feasible, 50);
  EXPECT_GE(optimal, 0.95 * feasible) << "of " << feasible;
}

/// Random changes keep the plan's books in step with the simulator.
void changeAndCompare(RecomputeProblem problem, unsigned seed, int64_t budget) {
  int n = problem.ops.size();
  std::mt19937 random(seed);
  for (RecomputeOp &op : problem.ops)
    if (!op.inputs.empty() && random() % 3 == 0) {
      op.storage = op.inputs[random() % op.inputs.size()];
      op.sizeInBytes = problem.ops[op.storage].sizeInBytes;
    }
  ASSERT_FALSE(problem.check());
  Graph graph(problem);
  StagePlan plan(graph, budget);
  for (int change = 0; change < 100; ++change) {
    int stage = random() % n, op = random() % n;
    if (op >= stage || !graph.recomputable[op])
      continue;
    if (plan.has({stage, op}))
      plan.remove({stage, op});
    else
      plan.insert({stage, op});
    Result<ScheduleCost> cost = simulate(problem, plan.schedule());
    ASSERT_TRUE(cost) << cost.error().message;
    ASSERT_EQ(cost->peakInBytes, plan.peak()) << "seed " << seed;
    ASSERT_EQ(plan.excess() == 0, plan.peak() <= budget);
    ASSERT_EQ(plan.firstAbove(0, n) < 0, plan.peak() <= budget);
    StagePlan fresh(graph, budget, plan.repeats());
    ASSERT_EQ(fresh.excess(), plan.excess());
  }
}

TEST(StagePlan, AgreesWithTheSimulator) {
  for (unsigned seed = 0; seed < 200; ++seed)
    changeAndCompare(randomRecomputeProblem(12, seed), seed, 20);
}

/// Ops that read the one before and some earlier one: lifetimes of many blocks
/// of stages, in a profile that crosses the budget here and there.
TEST(StagePlan, AgreesWithTheSimulatorOnLongPlans) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    RecomputeProblem problem = randomRecomputeProblem(400, seed);
    std::mt19937 random(seed);
    for (int i = 1; i < 400; ++i) {
      int earlier = random() % i;
      problem.ops[i].inputs = {earlier};
      if (earlier != i - 1)
        problem.ops[i].inputs.push_back(i - 1);
      problem.ops[i].pinned = false;
    }
    changeAndCompare(problem, seed, plainPeak(problem) * (90 + seed) / 100);
  }
}

TEST(SolveRecompute, TheSameEffortGivesTheSamePlan) {
  RecomputeProblem problem = randomRecomputeProblem(60, 7);
  RecomputeOptions options;
  options.budgetInBytes = plainPeak(problem) * 8 / 10;
  options.effort = 20000;
  options.threads = 2;
  Result<RecomputeSolution> first = solveRecompute(problem, options);
  Result<RecomputeSolution> second = solveRecompute(problem, options);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->schedule, second->schedule);
  EXPECT_EQ(first->lowerBound, second->lowerBound);
}

TEST(SolveRecompute, SaysTheSmallestBudget) {
  RecomputeProblem problem = chain();
  RecomputeOptions options;
  options.budgetInBytes = 20; // the last op and its inputs are 30
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  EXPECT_FALSE(solution->found);
  EXPECT_EQ(solution->budgetLowerLimit, 30);
  EXPECT_EQ(solution->smallestBudgetFound, 30);
}

/// Ops that read the one before, and each pair of edges besides.
RecomputeProblem chainWith(std::vector<int64_t> bytes,
                           std::vector<double> costs,
                           std::vector<std::pair<int, int>> edges) {
  RecomputeProblem problem;
  for (size_t i = 0; i < bytes.size(); ++i) {
    RecomputeOp op;
    op.sizeInBytes = bytes[i];
    op.cost = costs[i];
    if (i > 0)
      op.inputs.push_back(i - 1);
    problem.ops.push_back(op);
  }
  for (auto [from, to] : edges)
    problem.ops[to].inputs.push_back(from);
  return problem;
}

/// The optimum, as an integer program found it, runs ops 0 to 4 again before op
/// 12. Where 4 comes a stage later, 3 and 2 must as well, and alone none of
/// them can be moved back within the budget.
TEST(SolveRecompute, MovesRepeatsWithTheirInputs) {
  RecomputeProblem problem =
      chainWith({8, 18, 12, 16, 3, 1, 9, 8, 16, 18, 13, 8, 17, 1, 6},
                {19, 5, 20, 19, 20, 16, 18, 7, 18, 16, 5, 5, 13, 3, 19},
                {{0, 2}, {2, 4}, {2, 12}, {4, 13}, {5, 11}, {7, 9}});
  RecomputeOptions options;
  options.budgetInBytes = 46;
  options.effort = 20000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_EQ(solution->addedCost, 83);
}

/// Where moves to later stages leave the inputs behind, nothing is found with a
/// third of this effort, and 66 with all of it.
TEST(SolveRecompute, MovesRepeatsToLaterStagesWithTheirInputs) {
  RecomputeProblem problem =
      chainWith({19, 3,  15, 12, 17, 6, 9,  4,  16, 17, 11, 6, 3,
                 18, 19, 20, 10, 12, 1, 10, 14, 20, 7,  20, 19},
                {6,  8, 10, 6,  6,  1,  6,  1, 16, 1, 19, 7, 11,
                 15, 1, 13, 11, 15, 10, 20, 8, 9,  6, 1,  19},
                {{0, 4},
                 {3, 20},
                 {4, 7},
                 {4, 10},
                 {5, 18},
                 {6, 11},
                 {6, 18},
                 {9, 15},
                 {10, 12},
                 {11, 14},
                 {12, 17},
                 {12, 22}});
  RecomputeOptions options;
  options.budgetInBytes = 62;
  options.effort = 30000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution && solution->found);
  EXPECT_EQ(solution->addedCost, 51);
}

/// However short the time is, a large problem gets a plan of its cuts, which is
/// near the best one and uses the budget. Plans that drop everything at once
/// would cost twenty times as much as the step.
TEST(SolveRecompute, CutsLargeProblemsInNoTime) {
  std::mt19937 random(5);
  RecomputeProblem problem = trainingChain(10'000, &random);
  RecomputeOptions options;
  options.budgetInBytes = plainPeak(problem) / 2;
  options.timeLimitInSeconds = 1e-9;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  ASSERT_TRUE(solution->found);
  EXPECT_FALSE(
      verify(problem, solution->schedule, options.budgetInBytes).has_value());
  EXPECT_GT(solution->peakInBytes, options.budgetInBytes * 3 / 4);
  EXPECT_LT(solution->addedCost, problem.totalCost() / 2);
}

TEST(SolveRecompute, TakesAnEmptyProblem) {
  Result<RecomputeSolution> solution = solveRecompute({}, {});
  ASSERT_TRUE(solution);
  EXPECT_TRUE(solution->found);
  EXPECT_TRUE(solution->schedule.empty());
}

/// With shared storages there is no brute force, but no proof may exceed a
/// plan.
TEST(Certificate, ProvesNoMoreThanThePlanCosts) {
  int solved = 0;
  for (unsigned seed = 0; seed < 150; ++seed) {
    RecomputeProblem problem = randomRecomputeProblem(14, seed);
    std::mt19937 random(seed);
    for (RecomputeOp &op : problem.ops)
      if (!op.inputs.empty() && random() % 3 == 0) {
        op.storage = op.inputs[random() % op.inputs.size()];
        op.sizeInBytes = problem.ops[op.storage].sizeInBytes;
      }
    compareProofWithPlan(
        problem, plainPeak(problem) * (75 + random() % 20) / 100, seed, solved);
  }
  EXPECT_GT(solved, 30);
}

/// A certificate is refused when any of its flows grows, or a price falls.
TEST(Certificate, IsRefusedWhenChanged) {
  RecomputeProblem problem = randomRecomputeProblem(40, 3);
  RecomputeOptions options;
  options.budgetInBytes = plainPeak(problem) * 8 / 10;
  options.effort = 1000;
  Result<RecomputeSolution> solution = solveRecompute(problem, options);
  ASSERT_TRUE(solution);
  ASSERT_FALSE(solution->certificate.flows.empty());
  for (size_t i = 0; i < solution->certificate.flows.size(); ++i) {
    Certificate changed = solution->certificate;
    ++changed.flows[i].amount;
    EXPECT_FALSE(checkCertificate(problem, options.budgetInBytes, changed));
  }
  Certificate twice = solution->certificate;
  twice.flows.push_back(twice.flows[0]);
  EXPECT_FALSE(checkCertificate(problem, options.budgetInBytes, twice));
}

/// Prices that take more than 2^127 off the bound prove nothing.
TEST(Certificate, DoesNotWrapAround) {
  RecomputeProblem problem = chain();
  Certificate certificate;
  certificate.timePoints = {1, 2, 3};
  certificate.prices = {INT64_MAX, INT64_MAX, INT64_MAX};
  Result<double> bound = checkCertificate(problem, INT64_MAX, certificate);
  ASSERT_TRUE(bound) << bound.error().message;
  EXPECT_EQ(*bound, 0);
}

TEST(SolveRecompute, AgreesWithBruteForceOnSmallGraphs) {
  Tally tally;
  for (unsigned seed = 0; seed < countOfComparedGraphs(); ++seed) {
    std::mt19937 random(seed);
    RecomputeProblem problem = randomRecomputeProblem(4 + random() % 7, seed);
    compareWithBruteForce(
        problem, plainPeak(problem) * (50 + random() % 50) / 100, seed, tally);
  }
  RecordProperty("optimal", tally.optimal);
  printf("%d solved, %d optimal, %d missed, %d infeasible\n", tally.solved,
         tally.optimal, tally.missed, tally.infeasible);
  EXPECT_GE(tally.optimal, 0.98 * tally.solved);
}

} // namespace
