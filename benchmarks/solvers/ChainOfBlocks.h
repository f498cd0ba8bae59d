//===- ChainOfBlocks.h - A synthetic training graph -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_BENCHMARKS_SOLVERS_CHAINOFBLOCKS_H
#define GPUOPT_BENCHMARKS_SOLVERS_CHAINOFBLOCKS_H

#include "Random.h"
#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

namespace gpuopt::planning {

/// n/2 forward ops in a chain, with a skip every eight, and a backward op for
/// each, which reads its input and its output.
inline RecomputeProblem chainOfBlocks(int n) {
  RecomputeProblem problem;
  int half = n / 2;
  Random random(1);
  for (int i = 0; i < 2 * half; ++i) {
    RecomputeOp op;
    op.cost = 1 + random.below(8);
    op.sizeInBytes = 1024 * (1 + random.below(4));
    int forward = 2 * half - 1 - i;
    if (i >= half && forward > 0)
      op.inputs = {forward - 1, forward};
    else if (i >= half)
      op.inputs = {forward};
    if (i >= 16 && i < half && i % 8 == 0)
      op.inputs.push_back(i - 8);
    if (i > 0 && (op.inputs.empty() || op.inputs.back() != i - 1))
      op.inputs.push_back(i - 1);
    problem.ops.push_back(std::move(op));
  }
  return problem;
}

} // namespace gpuopt::planning

#endif // GPUOPT_BENCHMARKS_SOLVERS_CHAINOFBLOCKS_H
