//===- TrainingChain.h - Chains of layers and their way back ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TEST_UNIT_PLANNING_TRAININGCHAIN_H
#define GPUOPT_TEST_UNIT_PLANNING_TRAININGCHAIN_H

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

#include <random>

namespace gpuopt::planning {

/// So many layers forward, each of which reads the one before, and backward,
/// where each reads the gradient and the input of its layer.
inline RecomputeProblem trainingChain(int layers,
                                      std::mt19937 *random = nullptr) {
  RecomputeProblem problem;
  auto draw = [&](int most) {
    return random ? 1 + int((*random)() % most) : 1;
  };
  for (int i = 0; i < 2 * layers; ++i) {
    RecomputeOp op;
    op.cost = draw(9);
    op.sizeInBytes = draw(4);
    if (i > 0)
      op.inputs.push_back(i - 1);
    if (i > layers)
      op.inputs.insert(op.inputs.begin(), 2 * layers - 1 - i);
    problem.ops.push_back(op);
  }
  return problem;
}

} // namespace gpuopt::planning

#endif // GPUOPT_TEST_UNIT_PLANNING_TRAININGCHAIN_H
