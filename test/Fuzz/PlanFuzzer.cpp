//===- PlanFuzzer.cpp - Any bytes as a graph and its plan -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text of a graph, a zero byte, and the text of a plan. A plan that passes
// `gpuopt-solve verify` costs what the quadratic simulator says, and proves no
// more than it costs: whatever becomes of a certificate, it stays true.
//
//===----------------------------------------------------------------------===//

#include "Checks.h"
#include "Oracles.h"

using namespace gpuopt;
using namespace gpuopt::planning;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr size_t mostSteps = 300;
  auto [graphText, planText] =
      llvm::StringRef(reinterpret_cast<const char *>(data), size).split('\0');
  Result<RecomputeProblem> problem = solve::parseGraph(graphText);
  if (!problem)
    return 0;
  Result<solve::PlanFile> plan = solve::parsePlan(planText);
  if (!plan || plan->schedule.size() > mostSteps)
    return 0;
  fuzz::expectTrueCost(*problem, plan->schedule);
  MaybeError error = verify(*problem, plan->schedule, plan->budgetInBytes);
  Result<double> bound =
      checkCertificate(*problem, plan->budgetInBytes, plan->certificate);
  if (!error && bound)
    fuzz::expect(*bound <= simulate(*problem, plan->schedule)->addedCost +
                               1e-9 * problem->totalCost(),
                 "a bound that no plan beats");
  Result<solve::PlanFigures> figures = solve::checkPlan(*problem, *plan);
  fuzz::expect(!figures || !error, "verify to refuse what breaks a rule");
  if (figures)
    fuzz::expect(bool(solve::parsePlan(printPlan(*plan))),
                 "a plan that can be read again");
  return 0;
}
