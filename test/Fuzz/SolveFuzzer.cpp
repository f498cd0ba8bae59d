//===- SolveFuzzer.cpp - Any bytes as a recompute problem -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever the bytes are, there is an error or an answer, and an answer passes
// the independent checks. The first byte is the budget, as a share of the
// plain peak; the rest is the text of a graph.
//
//===----------------------------------------------------------------------===//

#include "Files.h"

#include "gpuopt/Planning/SolveRecompute.h"

#include <cstdlib>

using namespace gpuopt;
using namespace gpuopt::planning;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr size_t kMostOps = 200;
  if (size == 0)
    return 0;
  llvm::StringRef text(reinterpret_cast<const char *>(data + 1), size - 1);
  Result<RecomputeProblem> problem = solve::parseGraph(text);
  if (!problem || problem->ops.size() > kMostOps || problem->check())
    return 0;
  RecomputeOptions options;
  options.budgetInBytes = int64_t(double(plainPeak(*problem)) * data[0] / 255);
  options.effort = 300;
  options.findSmallestBudget = false; // takes a fixed effort of its own
  Result<RecomputeSolution> solution = solveRecompute(*problem, options);
  if (!solution)
    abort();
  if (solution->found &&
      verify(*problem, solution->schedule, options.budgetInBytes))
    abort();
  if (!solution->certificate.isEmpty()) {
    Result<double> bound = checkCertificate(*problem, options.budgetInBytes,
                                            solution->certificate);
    if (!bound)
      abort();
    if (solution->found && *bound > solution->addedCost * (1 + 1e-9) + 1e-9)
      abort();
  }
  return 0;
}
