//===- AssignPrecision.h - The cheapest precision of everything -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_PRECISION_ASSIGNPRECISION_H
#define GPUOPT_PLANNING_PRECISION_ASSIGNPRECISION_H

#include "gpuopt/Planning/Precision/PrecisionProblem.h"

namespace gpuopt::planning {

struct PrecisionSolution {
  PrecisionAssignment assignment;
  /// A maximum flow. No labelling costs less than its value. It has an amount
  /// for each choice from the source (at most its full cost) and to the sink
  /// (at most its half cost), and for each penalty.
  std::vector<int64_t> fromSource, toSink, alongPenalty;
};

/// Returns the labelling of the lowest cost, by one minimum cut; among several,
/// the one with the fewest choices in half precision. If rules contradict each
/// other, the error names the chain between them.
Result<PrecisionSolution> assignPrecision(const PrecisionProblem &problem);

/// Confirms that no labelling costs less: the flow respects its bounds, is
/// conserved at every choice, and has the cost of the assignment as its value.
MaybeError verifyOptimal(const PrecisionProblem &problem,
                         const PrecisionSolution &solution);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_PRECISION_ASSIGNPRECISION_H
