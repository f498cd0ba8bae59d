//===- VerifyCommand.cpp - gpuopt-solve verify ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

/// Whether a claimed percentage is the true one, but for its last digits.
static bool isClose(double claimed, double actual) {
  return std::abs(claimed - actual) <= 1e-6 * (1 + std::abs(actual));
}

int solve::verifyRecompute(const CommandOptions &options) {
  Result<RecomputeProblem> problem = readGraph(options.input);
  if (!problem)
    return fail(problem.error().message);
  Result<PlanFile> plan = readPlan(options.solution);
  if (!plan)
    return fail(plan.error().message);
  if (MaybeError error = verify(*problem, plan->schedule, plan->budgetInBytes))
    return fail(error->message);
  ScheduleCost cost = *simulate(*problem, plan->schedule);
  double total = problem->totalCost();
  double added = total > 0 ? 100 * cost.addedCost / total : 0, bound = 0;
  if (!plan->certificate.isEmpty()) {
    Result<double> proven =
        checkCertificate(*problem, plan->budgetInBytes, plan->certificate);
    if (!proven)
      return fail("certificate: " + proven.error().message);
    bound = total > 0 ? 100 * *proven / total : 0;
  }
  if (plan->peakInBytes != cost.peakInBytes ||
      !isClose(plan->addedPercent, added))
    return fail("the plan claims another peak or cost than it has");
  if (!(plan->lowerBoundPercent <= bound + 1e-6 * (1 + bound)))
    return fail("the plan claims a higher bound than it proves");
  llvm::outs() << "verified peak_bytes=" << cost.peakInBytes
               << llvm::format(" added_percent=%.4f lower_bound_percent=%.4f\n",
                               added, bound);
  return Success;
}

int solve::verifyArena(const CommandOptions &options) {
  Result<ArenaFile> arena = readArena(options.input);
  if (!arena)
    return fail(arena.error().message);
  Result<ArenaFile> packed = readArena(options.solution);
  if (!packed)
    return fail(packed.error().message);
  if (packed->ids != arena->ids || packed->offsets.size() != arena->ids.size())
    return fail("the solution's rows are not the instance's, with offsets");
  ArenaSolution solution{packed->offsets, 0};
  for (size_t i = 0; i < arena->ids.size(); ++i) {
    const Buffer &a = arena->problem.buffers[i],
                 &b = packed->problem.buffers[i];
    if (a.lower != b.lower || a.upper != b.upper ||
        a.sizeInBytes != b.sizeInBytes)
      return fail("buffer '" + arena->ids[i] + "' was changed");
    if (solution.offsets[i] < 0 ||
        solution.offsets[i] > INT64_MAX - a.sizeInBytes)
      return fail("buffer '" + arena->ids[i] + "' is out of range");
    solution.height =
        std::max(solution.height, solution.offsets[i] + a.sizeInBytes);
  }
  if (MaybeError error = verify(arena->problem, solution))
    return fail(error->message);
  llvm::outs() << "verified height=" << solution.height
               << " max_load=" << largestLoad(arena->problem) << "\n";
  return Success;
}
