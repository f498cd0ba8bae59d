//===- Oracles.h - What must hold of every answer --------------- -*- C++
//-*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_TEST_FUZZ_ORACLES_H
#define GPUOPT_TEST_FUZZ_ORACLES_H

#include "gpuopt/Planning/Recompute/SolveRecompute.h"

namespace gpuopt::fuzz {

/// Says what does not hold and aborts, which is a finding.
void expect(bool holds, const char *what);

/// The simulator agrees with one that asks of every storage at every step who
/// still needs it, in quadratic time.
void expectTrueCost(const planning::RecomputeProblem &problem,
                    const planning::Schedule &schedule);

/// Solves with a small effort: the plan is within the budget and passes
/// `gpuopt-solve verify` after it was printed and read, and its bound does not
/// exceed its cost.
planning::RecomputeSolution
solveAndCheck(const planning::RecomputeProblem &problem, int64_t budget);

} // namespace gpuopt::fuzz

#endif // GPUOPT_TEST_FUZZ_ORACLES_H
