//===- AssignPrecisionTest.cpp - Tests of the precision cut ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Precision/AssignPrecision.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

using namespace gpuopt::planning;
using Rule = PrecisionChoice::Rule;

namespace {

/// Choices that read earlier ones; small costs, so that ties are common.
PrecisionProblem randomProblem(int count, std::mt19937 &random) {
  PrecisionProblem problem;
  for (int i = 0; i < count; ++i) {
    PrecisionChoice choice{"c" + std::to_string(i), int64_t(random() % 6),
                           int64_t(random() % 8), Rule::Free};
    if (random() % 8 == 0)
      choice.rule = random() % 2 ? Rule::Half : Rule::Full;
    problem.choices.push_back(choice);
    for (unsigned reads = i ? random() % 3 : 0; reads > 0; --reads) {
      int other = random() % i;
      bool forward = random() % 2;
      int64_t cost = random() % 6 == 0 ? kForbidden : int64_t(random() % 5);
      problem.penalties.push_back(
          {forward ? i : other, forward ? other : i, cost});
    }
  }
  return problem;
}

/// The lowest cost, and of the labellings that have it the fewest in half.
std::optional<std::pair<int64_t, int>>
bruteForce(const PrecisionProblem &problem) {
  std::optional<std::pair<int64_t, int>> best;
  size_t count = problem.choices.size();
  for (uint32_t bits = 0; bits < (1u << count); ++bits) {
    std::vector<char> isHalf(count);
    for (size_t i = 0; i < count; ++i)
      isHalf[i] = bits >> i & 1;
    Result<int64_t> cost = costOf(problem, isHalf);
    if (!cost)
      continue;
    std::pair<int64_t, int> found{*cost, __builtin_popcount(bits)};
    if (!best || found < *best)
      best = found;
  }
  return best;
}

TEST(AssignPrecision, IsOptimalOnRandomGraphs) {
  std::mt19937 random(1);
  int contradictions = 0;
  for (int round = 0; round < 5000; ++round) {
    SCOPED_TRACE(round);
    PrecisionProblem problem = randomProblem(1 + random() % 13, random);
    auto best = bruteForce(problem);
    Result<PrecisionSolution> solution = assignPrecision(problem);
    ASSERT_EQ(bool(solution), best.has_value());
    if (!solution) {
      ++contradictions;
      continue;
    }
    const PrecisionAssignment &got = solution->assignment;
    ASSERT_EQ(got.cost, best->first);
    ASSERT_EQ(std::count(got.isHalf.begin(), got.isHalf.end(), 1),
              best->second);
    MaybeError error = verifyOptimal(problem, *solution);
    ASSERT_FALSE(error) << error->message;
  }
  EXPECT_GT(contradictions, 10);
}

/// Two products that like half precision around one that does not.
PrecisionProblem sandwich(int64_t castCost) {
  PrecisionProblem problem;
  problem.choices = {{"first", 1, 10, Rule::Free},
                     {"norm", 5, 4, Rule::Free},
                     {"second", 1, 10, Rule::Free}};
  for (auto [a, b] : {std::pair(0, 1), {1, 2}}) {
    problem.penalties.push_back({a, b, castCost});
    problem.penalties.push_back({b, a, castCost});
  }
  return problem;
}

TEST(AssignPrecision, CastsAreWeighed) {
  Result<PrecisionSolution> cheap = assignPrecision(sandwich(0)),
                            dear = assignPrecision(sandwich(1));
  ASSERT_TRUE(cheap && dear);
  EXPECT_EQ(cheap->assignment.isHalf, (std::vector<char>{1, 0, 1}));
  EXPECT_EQ(cheap->assignment.cost, 6);
  EXPECT_EQ(dear->assignment.isHalf, (std::vector<char>{1, 1, 1}));
  EXPECT_EQ(dear->assignment.cost, 7);
}

TEST(AssignPrecision, ContradictionsNameTheChain) {
  PrecisionProblem problem = sandwich(kForbidden);
  problem.choices[0].rule = Rule::Half;
  problem.choices[2].rule = Rule::Full;
  Result<PrecisionSolution> solution = assignPrecision(problem);
  ASSERT_FALSE(solution);
  EXPECT_EQ(solution.error().message,
            "'first', so 'norm', so 'second' must be in half precision, but "
            "'second' must not");
}

TEST(AssignPrecision, RefusesBadProblems) {
  PrecisionProblem problem = sandwich(1);
  problem.choices[1].halfCost = -1;
  EXPECT_EQ(problem.check()->message,
            "choice 1 ('norm') has a cost that is negative or too large");
  problem.choices[1].halfCost = kForbidden;
  EXPECT_FALSE(assignPrecision(problem));
  problem = sandwich(1);
  problem.penalties[0].full = 3;
  EXPECT_EQ(problem.check()->message,
            "penalty 0 is between choices 0 and 3, but there are 3");
  EXPECT_FALSE(costOf(problem, {0, 0, 0}));
  problem.penalties[0].full = -1;
  EXPECT_FALSE(assignPrecision(problem));
  problem = sandwich(1);
  problem.choices[0].halfCost = problem.choices[2].fullCost = kForbidden / 2;
  EXPECT_FALSE(assignPrecision(problem));
  problem = sandwich(-1);
  EXPECT_EQ(problem.check()->message,
            "penalty 0 has a cost that is negative or too large");
  EXPECT_TRUE(assignPrecision({}));
}

TEST(AssignPrecision, ChecksRefuseWhatWasChanged) {
  PrecisionProblem problem = sandwich(1);
  PrecisionSolution solution = *assignPrecision(problem);
  EXPECT_FALSE(verifyOptimal(problem, solution));
  auto problemOf = [&](auto change) -> std::string {
    PrecisionSolution changed = solution;
    change(changed);
    MaybeError error = verifyOptimal(problem, changed);
    return error ? error->message : "none";
  };
  auto refuses = [&](auto change, const std::string &why) {
    std::string told = problemOf(change);
    EXPECT_NE(told.find(why), std::string::npos) << told;
  };
  refuses([](PrecisionSolution &s) { s.assignment.cost += 1; },
          ", but claims ");
  refuses([](PrecisionSolution &s) { s.assignment.isHalf[0] ^= 1; },
          "the labelling costs ");
  refuses([](PrecisionSolution &s) { s.assignment.isHalf.pop_back(); },
          "expects a label for each of 3 choices, but got 2");
  refuses([](PrecisionSolution &s) { s.fromSource[0] += 1; },
          "the flow through 'first' is not conserved");
  refuses(
      [](PrecisionSolution &s) { s.fromSource[0] += 100, s.toSink[0] += 100; },
      "the flow through 'first' is out of bounds");
  refuses([](PrecisionSolution &s) { s.alongPenalty[0] = -1; },
          "the flow along penalty 0 is out of bounds");
  refuses([](PrecisionSolution &s) { s.toSink.clear(); },
          "the flow has not one value for each choice and penalty");
  // A labelling that keeps all rules and claims what it costs, but is not the
  // best.
  refuses(
      [&](PrecisionSolution &s) {
        s.assignment.isHalf = {0, 0, 0};
        s.assignment.cost = *costOf(problem, s.assignment.isHalf);
      },
      "the flow does not carry the 24 that the labelling costs");
  // And rules that are broken.
  problem.choices[0].rule = Rule::Half;
  EXPECT_EQ(costOf(problem, {0, 0, 0}).error().message,
            "'first' must be in half precision");
  problem.penalties[0].cost = kForbidden;
  problem.choices[0].rule = Rule::Free;
  std::vector<char> broken(3, 0);
  broken[problem.penalties[0].half] = 1;
  EXPECT_EQ(costOf(problem, broken).error().message,
            "'first' must not be in half precision where 'norm' is not");
}

TEST(AssignPrecision, ChecksRefuseFlowsWhoseSumsWrap) {
  // Flow that comes from nowhere along many forbidden pairs, each within a
  // word, all of them together 2^64 and so nothing in one.
  PrecisionProblem problem;
  problem.choices = {{"a", 0, 9, Rule::Free}, {"b", 9, 0, Rule::Free}};
  PrecisionSolution forged;
  forged.assignment = {{0, 0}, 9};
  forged.fromSource = {9, 0};
  forged.toSink = {0, 9};
  constexpr int kPairs = 32;
  for (int i = 0; i < kPairs; ++i) {
    problem.penalties.push_back({0, 1, kForbidden});
    forged.alongPenalty.push_back(int64_t(1) << 59);
  }
  forged.alongPenalty[0] += 9;
  EXPECT_TRUE(verifyOptimal(problem, forged));
  forged.alongPenalty.assign(kPairs, 0);
  forged.alongPenalty[0] = 9;
  EXPECT_FALSE(verifyOptimal(problem, forged));
}

TEST(AssignPrecision, LongChainsOfRulesAreFast) {
  constexpr int kChoices = 100000;
  PrecisionProblem problem;
  problem.choices.assign(kChoices, {"c", 1, 1, Rule::Half});
  for (int i = 1; i < kChoices; ++i)
    problem.penalties.push_back({i - 1, i, kForbidden});
  auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(assignPrecision(problem));
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  EXPECT_LT(seconds, 1); // loose, for slow machines
}

TEST(AssignPrecision, DeepNetworksAreFast) {
  // Each layer reads the one before and the one three before; every product has
  // a choice for its casts.
  constexpr int kChoices = 10000;
  std::mt19937 random(7);
  PrecisionProblem problem;
  for (int i = 0; i < kChoices; ++i) {
    int64_t full = 1000000 + int64_t(random() % 1000000);
    problem.choices.push_back(
        {"c", full / (1 + int64_t(random() % 3)) + int64_t(random() % 400000),
         full, random() % 50 == 0 ? Rule::Full : Rule::Free});
    for (int back : {1, 3})
      if (i >= back) {
        problem.penalties.push_back({i, i - back, int64_t(random() % 500000)});
        problem.penalties.push_back(
            {i - back, i,
             random() % 10 ? int64_t(random() % 500000) : kForbidden});
      }
  }
  auto start = std::chrono::steady_clock::now();
  Result<PrecisionSolution> solution = assignPrecision(problem);
  double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  RecordProperty("seconds", std::to_string(seconds));
  printf("%d choices, %zu penalties: %.3f s\n", kChoices,
         problem.penalties.size(), seconds);
  ASSERT_TRUE(solution);
  EXPECT_FALSE(verifyOptimal(problem, *solution));
  EXPECT_LT(seconds, 1); // loose, for slow machines
}

} // namespace
