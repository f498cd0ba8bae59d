//===- GraphFuzzer.cpp - Any bytes as a recompute problem -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first line is a budget, the rest the text of a graph. Whatever they are,
// there is an error or an answer, and an answer passes the independent checks.
//
//===----------------------------------------------------------------------===//

#include "Files.h"
#include "Oracles.h"

#include <algorithm>
#include <tuple>

using namespace gpuopt;
using namespace gpuopt::planning;

static bool isSame(const RecomputeProblem &a, const RecomputeProblem &b) {
  auto fields = [](const RecomputeOp &op) {
    return std::tuple(op.cost, op.sizeInBytes, op.workspaceInBytes,
                      op.repeatWorkspace(), op.inputs, op.storage, op.pinned,
                      op.recomputable);
  };
  return std::equal(a.ops.begin(), a.ops.end(), b.ops.begin(), b.ops.end(),
                    [&](const RecomputeOp &x, const RecomputeOp &y) {
                      return fields(x) == fields(y);
                    });
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  constexpr size_t mostOps = 60;
  auto [budgetText, graphText] =
      llvm::StringRef(reinterpret_cast<const char *>(data), size).split('\n');
  Result<RecomputeProblem> problem = solve::parseGraph(graphText);
  if (!problem || problem->ops.size() > mostOps)
    return 0;
  Result<RecomputeProblem> again = solve::parseGraph(printProblem(*problem));
  fuzz::expect(again && isSame(*again, *problem),
               "a problem that can be read again");
  Result<int64_t> budget = solve::parseBudget(budgetText, plainPeak(*problem));
  if (budget)
    fuzz::solveAndCheck(*problem, *budget);
  return 0;
}
