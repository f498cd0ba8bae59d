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
  /// A maximum flow, whose value no labelling's cost is below: through each
  /// choice from the source (up to its full cost) and to the sink (up to its
  /// half cost), and along each penalty.
  std::vector<int64_t> fromSource, toSink, alongPenalty;
};

/// The labelling of the lowest cost, by one minimum cut; of several, the one
/// with the fewest choices in half precision. Rules that contradict each other
/// are an error that names the chain between them.
Result<PrecisionSolution> assignPrecision(const PrecisionProblem &problem);

/// Confirms that no labelling costs less: the flow respects its bounds, is
/// conserved at every choice, and carries as much as the assignment costs.
MaybeError verifyOptimal(const PrecisionProblem &problem,
                         const PrecisionSolution &solution);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_PRECISION_ASSIGNPRECISION_H
