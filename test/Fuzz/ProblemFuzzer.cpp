//===- ProblemFuzzer.cpp - Small recompute problems against brute force ---===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes are read as a problem, a budget and a schedule, so that nearly all
// of them get as far as the solver. Costs and sizes are small numbers times a
// power of two, where sums are exact. With GPUOPT_FUZZ_PRINT in the environment
// the problem and the budget are printed, for gpuopt-solve.
//
//===----------------------------------------------------------------------===//

#include "BruteForce.h"
#include "Oracles.h"

#include "gpuopt/Planning/Recompute/PlanText.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>

using namespace gpuopt;
using namespace gpuopt::planning;

static RecomputeOp takeOp(FuzzedDataProvider &bytes, int costShift,
                          int sizeShift, const RecomputeProblem &problem) {
  RecomputeOp op;
  op.cost = std::ldexp(bytes.ConsumeIntegral<uint8_t>(), costShift);
  op.sizeInBytes = int64_t(bytes.ConsumeIntegral<uint8_t>()) << sizeShift;
  auto flags = bytes.ConsumeIntegral<uint8_t>();
  op.pinned = flags % 8 == 1;
  op.recomputable = flags % 8 != 2;
  if (flags & 8)
    op.workspaceInBytes = int64_t(bytes.ConsumeIntegral<uint8_t>())
                          << sizeShift;
  if (flags & 16)
    op.repeatWorkspaceInBytes = int64_t(bytes.ConsumeIntegral<uint8_t>())
                                << sizeShift;
  auto reads = bytes.ConsumeIntegral<uint16_t>();
  for (size_t input = 0; input < problem.ops.size(); ++input)
    if (reads >> input & 1)
      op.inputs.push_back(int(input));
  if (flags % 8 == 3 && !op.inputs.empty()) {
    op.storage = op.inputs[flags / 8 % op.inputs.size()];
    op.sizeInBytes = problem.ops[op.storage].sizeInBytes;
    op.overwrites = flags & 32;
  }
  if (flags & 64)
    op.offloadCost = std::ldexp(bytes.ConsumeIntegral<uint8_t>(), costShift);
  return op;
}

/// What would overwrite an output that is still wanted, or a view, is a view of
/// it instead, and so cannot be offloaded by itself.
static void keepWhatMayOverwrite(RecomputeProblem &problem) {
  std::vector<int> readers(problem.ops.size(), 0);
  for (const RecomputeOp &op : problem.ops)
    for (int input : op.inputs)
      ++readers[input];
  for (RecomputeOp &op : problem.ops) {
    if (op.storage < 0)
      continue;
    const RecomputeOp &gone = problem.ops[op.storage];
    bool isView = gone.storage >= 0 && !gone.overwrites;
    bool isWanted = readers[op.storage] != 1 || gone.pinned || gone.offloadCost;
    op.overwrites = op.overwrites && !isView && !isWanted;
    if (!op.overwrites)
      op.offloadCost.reset();
  }
}

static RecomputeProblem takeProblem(FuzzedDataProvider &bytes) {
  int costShift =
      bytes.PickValueInArray({0, 0, 0, -30, 40, -1000, -1074, 500, 1012});
  int sizeShift = bytes.PickValueInArray({0, 0, 10, 30, 47});
  RecomputeProblem problem;
  int count = bytes.ConsumeIntegralInRange(1, 12);
  while (int(problem.ops.size()) < count)
    problem.ops.push_back(takeOp(bytes, costShift, sizeShift, problem));
  keepWhatMayOverwrite(problem);
  return problem;
}

static bool hasBruteForce(const RecomputeProblem &problem) {
  bool sharesStorage = false;
  for (const RecomputeOp &op : problem.ops)
    sharesStorage |= op.storage >= 0;
  return !sharesStorage && problem.ops.size() <= 8;
}

static void compareWithBruteForce(const RecomputeProblem &problem,
                                  int64_t budget,
                                  const RecomputeSolution &solution) {
  double optimum = bruteForceOptimum(problem, budget);
  double slack = 1e-9 * problem.totalCost();
  if (optimum < 0) {
    fuzz::expect(!solution.found, "no plan where brute force has none");
    return;
  }
  fuzz::expect(solution.budgetLowerLimit <= budget,
               "a limit that the best plan is not below");
  if (!solution.certificate.isEmpty())
    fuzz::expect(*checkCertificate(problem, budget, solution.certificate) <=
                     optimum + slack,
                 "a bound that the best plan does not beat");
  if (solution.found)
    fuzz::expect(solution.addedCost >= optimum - slack,
                 "a plan no better than the best");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  FuzzedDataProvider bytes(data, size);
  RecomputeProblem problem = takeProblem(bytes);
  if (problem.check())
    return 0;
  int64_t percent = bytes.ConsumeIntegralInRange(30, 100);
  int64_t budget = plainPeak(problem) / 100 * percent;
  if (std::getenv("GPUOPT_FUZZ_PRINT"))
    std::fprintf(stderr, "%s%lldB\n", printProblem(problem).c_str(),
                 (long long)budget);
  RecomputeSolution solution = fuzz::solveAndCheck(problem, budget);
  if (hasBruteForce(problem))
    compareWithBruteForce(problem, budget, solution);
  Schedule schedule;
  while (bytes.remaining_bytes() > 0 && schedule.size() < 100)
    schedule.push_back(bytes.ConsumeIntegralInRange<int>(-13, 12));
  fuzz::expectTrueCost(problem, schedule);
  return 0;
}
