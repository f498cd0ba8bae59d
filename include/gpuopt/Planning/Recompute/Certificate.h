//===- Certificate.h - Proof of a lower bound -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A proof that no schedule with the given order of first executions costs less.
// The bound is a minimum cut (see docs/solve-format.md for the network), and a
// flow proves it: the value of a feasible flow is at most that of any cut. All
// numbers are integers, so the check is exact, and it needs no trust in the
// solver.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_RECOMPUTE_CERTIFICATE_H
#define GPUOPT_PLANNING_RECOMPUTE_CERTIFICATE_H

#include "gpuopt/Planning/Recompute/RecomputeProblem.h"

namespace gpuopt::planning {

struct Certificate {
  /// The ops at whose first execution memory has a price, in increasing order.
  std::vector<int> timePoints;
  std::vector<int64_t> prices; ///< One per time point, at least 0.
  int costShift = 0;           ///< A cost c counts as floor(c 2^costShift).
  int priceShift = 0; ///< m bytes at price p count floor(p m / 2^priceShift).

  /// The amount on one arc. Arcs that are not listed carry nothing.
  struct Flow {
    /// 0: source -> run(op, time point); 1: run(op, time point) -> run(op,
    /// other); 2: run(op, time point) -> had(op, time point); 3: had(other,
    /// time point) -> run(op, time point); 4: had(other, time point) -> had(op,
    /// time point).
    int kind, op, timePoint, other;
    int64_t amount;
  };
  std::vector<Flow> flows;

  bool isEmpty() const { return timePoints.empty(); }
};

/// Returns the added cost that the certificate proves for a budget, in the
/// problem's unit, or what is wrong with the certificate. Shares no code with
/// the solvers.
Result<double> checkCertificate(const RecomputeProblem &problem,
                                int64_t budgetInBytes,
                                const Certificate &certificate);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_RECOMPUTE_CERTIFICATE_H
