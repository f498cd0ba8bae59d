//===- VerifyCommand.cpp - gpuopt-solve verify ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Commands.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace gpuopt;
using namespace gpuopt::solve;
using namespace gpuopt::planning;

int solve::verifyRecompute(const CommandOptions &options) {
  Result<RecomputeProblem> problem = readGraph(options.input);
  if (!problem)
    return fail(problem.error().message);
  Result<PlanFile> plan = readPlan(options.solution);
  if (!plan)
    return fail(plan.error().message);
  Result<PlanFigures> figures = checkPlan(*problem, *plan);
  if (!figures)
    return fail(figures.error().message);
  llvm::outs() << "verified peak_bytes=" << figures->peakInBytes
               << llvm::format(" added_percent=%.4f lower_bound_percent=%.4f\n",
                               figures->addedPercent,
                               figures->lowerBoundPercent);
  return Success;
}

int solve::verifyArena(const CommandOptions &options) {
  Result<ArenaFile> arena = readArena(options.input);
  if (!arena)
    return fail(arena.error().message);
  Result<ArenaFile> packed = readArena(options.solution);
  if (!packed)
    return fail(packed.error().message);
  Result<ArenaSolution> solution = checkPacking(*arena, *packed);
  if (!solution)
    return fail(solution.error().message);
  llvm::outs() << "verified height=" << solution->height
               << " max_load=" << largestLoad(arena->problem) << "\n";
  return Success;
}
