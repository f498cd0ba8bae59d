//===- PackArenaTest.cpp - Tests of the arena packer ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Arena/PackArena.h"

#include <gtest/gtest.h>

#include <random>

using namespace gpuopt::planning;

namespace {

ArenaProblem randomProblem(int n, unsigned seed) {
  std::mt19937 random(seed);
  ArenaProblem problem;
  for (int i = 0; i < n; ++i) {
    int64_t lower = random() % n, length = 1 + random() % (n / 4 + 1);
    problem.buffers.push_back(
        {lower, lower + length, int64_t(random() % 64), 1 << random() % 4});
  }
  return problem;
}

TEST(PackArena, SharesBytesOfDisjointLifetimes) {
  ArenaProblem problem{{{0, 3, 8}, {3, 5, 8}, {0, 5, 4}}};
  Result<Packing> packing = packArena(problem);
  ASSERT_TRUE(packing);
  EXPECT_EQ(packing->solution.height, 12);
  EXPECT_TRUE(packing->isOptimal());
  EXPECT_FALSE(verify(problem, packing->solution));
}

TEST(PackArena, RespectsAlignment) {
  ArenaProblem problem{{{0, 2, 3, 256}, {0, 2, 5, 256}, {1, 2, 1, 256}}};
  Result<Packing> packing = packArena(problem);
  ASSERT_TRUE(packing);
  EXPECT_FALSE(verify(problem, packing->solution));
  EXPECT_LE(packing->solution.height, 517); // one of the three lies on top
  EXPECT_LE(packing->lowerLimitInBytes, packing->solution.height);
}

TEST(PackArena, PacksNothing) {
  Result<Packing> packing = packArena({});
  ASSERT_TRUE(packing);
  EXPECT_EQ(packing->solution.height, 0);
}

TEST(PackArena, RefusesBadInput) {
  EXPECT_FALSE(packArena({{{3, 3, 1}}}));
  EXPECT_FALSE(packArena({{{0, 1, -1}}}));
  EXPECT_FALSE(packArena({{{0, 1, 1, 0}}}));
  EXPECT_FALSE(packArena({{{0, 1, INT64_MAX}, {1, 2, INT64_MAX}}}));
}

TEST(PackArena, RandomPackingsAreValid) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    ArenaProblem problem = randomProblem(5 + seed, seed);
    PackOptions options;
    options.effort = 1000;
    Result<Packing> packing = packArena(problem, options);
    ASSERT_TRUE(packing);
    MaybeError error = verify(problem, packing->solution);
    EXPECT_FALSE(error) << error->message;
    EXPECT_LE(packing->lowerLimitInBytes, packing->solution.height);
    EXPECT_EQ(packing->solution.offsets,
              packArena(problem, options)->solution.offsets);
  }
}

/// Cuts a full rectangle into buffers, so that the best height is known.
void cut(int64_t lower, int64_t upper, int64_t height, std::mt19937 &random,
         ArenaProblem &problem) {
  bool canCutTime = upper - lower > 1, canCutSpace = height > 1;
  if ((!canCutTime && !canCutSpace) || (upper - lower) * height < 900) {
    problem.buffers.push_back({lower, upper, height});
    return;
  }
  if (canCutTime && (!canCutSpace || random() % 2)) {
    int64_t at = lower + 1 + random() % (upper - lower - 1);
    cut(lower, at, height, random, problem);
    cut(at, upper, height, random, problem);
    return;
  }
  int64_t at = 1 + random() % (height - 1);
  cut(lower, upper, at, random, problem);
  cut(lower, upper, height - at, random, problem);
}

/// 1000 bytes, all in use from 0 to `end`.
ArenaProblem cutArena(int64_t end, unsigned seed) {
  std::mt19937 random(seed);
  ArenaProblem problem;
  cut(0, end, 1000, random, problem);
  return problem;
}

TEST(PackArena, SearchFillsWhatFirstFitsLeave) {
  int firstFits = 0, searched = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    ArenaProblem problem = cutArena(30, seed);
    PackOptions options;
    options.effort = 0;
    firstFits += packArena(problem, options)->isOptimal();
    options.effort = 100000;
    searched += packArena(problem, options)->isOptimal();
  }
  EXPECT_GT(searched, firstFits);
  EXPECT_GE(searched, 38);
}

/// Tight at every time point: more than a search over all time points at once
/// can guess right together. One along time fills most of them; the packing
/// that was cut up has no gap.
TEST(PackArena, FillsArenasThatAreTightAtEveryMoment) {
  int filled = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    ArenaProblem problem = cutArena(60, seed);
    PackOptions options;
    options.capacityInBytes = 1000;
    options.effort = 600000;
    filled += packArena(problem, options)->isOptimal();
  }
  EXPECT_GE(filled, 5);
}

/// 10,000 buffers of a training step: activations that are born forward and
/// die backward, gradients that live shortly.
TEST(PackArena, TrainingStepsPackAtTheLargestLoad) {
  ArenaProblem problem;
  std::mt19937 random(1);
  int n = 5000;
  for (int i = 0; i < n; ++i) {
    int64_t size = 256 * (1 + random() % 64);
    problem.buffers.push_back({i, 2 * n - i, size, 256});
    problem.buffers.push_back({2 * n - i - 1, 2 * n - i + 1, size, 256});
  }
  PackOptions options;
  options.effort = 0;
  Result<Packing> packing = packArena(problem, options);
  ASSERT_TRUE(packing);
  EXPECT_TRUE(packing->isOptimal())
      << packing->solution.height << " " << packing->lowerLimitInBytes;
}

/// How often a capacity is not met though a smaller one is.
int countFallsOfPacker(const ArenaProblem &problem, bool aimsAtCapacity) {
  PackOptions options;
  options.effort = 6000;
  options.aimsAtCapacity = aimsAtCapacity;
  int64_t limit = heightLowerLimit(problem);
  bool wasMet = false;
  int falls = 0;
  for (int64_t more = 0; more <= 24; ++more) {
    options.capacityInBytes = limit + more;
    Result<Packing> packing = packArena(problem, options);
    EXPECT_TRUE(packing);
    EXPECT_FALSE(verify(problem, packing->solution));
    bool isMet = packing->solution.height <= limit + more;
    falls += wasMet && !isMet;
    wasMet = isMet;
  }
  return falls;
}

TEST(PackArena, WhatMeetsACapacityMeetsLargerOnes) {
  int falls = 0, fallsOfAimed = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    ArenaProblem problem = randomProblem(80, seed);
    falls += countFallsOfPacker(problem, /*aimsAtCapacity=*/false);
    fallsOfAimed += countFallsOfPacker(problem, /*aimsAtCapacity=*/true);
  }
  EXPECT_EQ(falls, 0);
  EXPECT_GT(fallsOfAimed, 0);
}

TEST(VerifyArena, FindsWhatIsWrong) {
  ArenaProblem problem{{{0, 2, 8}, {1, 3, 8, 4}}};
  EXPECT_FALSE(verify(problem, {{0, 8}, 16}));
  auto wrong = [&](const ArenaSolution &solution) {
    return verify(problem, solution)->message;
  };
  EXPECT_EQ(wrong({{0, 4}, 16}), "buffer 1 overlaps buffer 0");
  EXPECT_EQ(wrong({{0, 9}, 17}), "buffer 1 is not aligned to 4 at offset 9");
  EXPECT_EQ(wrong({{0, 8}, 12}), "expects a height of 16, but got 12");
  EXPECT_EQ(wrong({{0}, 8}), "expects 2 offsets, but got 1");
  EXPECT_EQ(wrong({{-8, 0}, 8}), "buffer 0 has the negative offset -8");
  EXPECT_EQ(wrong({{INT64_MAX - 7, 0}, 8}), "buffer 0 ends beyond 64 bits");
}

} // namespace
