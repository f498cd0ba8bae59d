//===- OffloadCost.h - What it costs to offload tensors ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The link to the host carries one transfer at a time. How much of a transfer
// overlaps with the step's work depends on all other transfers, but the solver
// needs a cost for each tensor alone. So each tensor is charged as if
// everything that the backward reads of the forward were offloaded: all copies
// to the host share the time of the forward, all copies back that of the
// backward, in proportion to their bytes. A plan that offloads less waits less.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_OFFLOADCOST_H
#define GPUOPT_ANALYSIS_COSTS_OFFLOADCOST_H

#include "gpuopt/Analysis/Memory/StepGraph.h"

namespace gpuopt {

/// Returns how long one transfer takes, in one direction.
double transferInNanoseconds(int64_t sizeInBytes, const DeviceModel &device);

/// Gives an offload cost to the results of the forward that the backward reads
/// and that lie in dense memory of their own until they are freed.
void addOffloadCosts(StepGraph &graph, const DeviceModel &device);

/// How long the transfers of a step take, and how long its work waits for them.
struct TransferTimes {
  int64_t sizeInBytes = 0; ///< Both directions.
  double busyInNanoseconds = 0, waitedInNanoseconds = 0;
};

/// Simulates the step with the transfers that run at the same time as its work.
TransferTimes timeTransfers(train::StepOp step, const DeviceModel &device);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_OFFLOADCOST_H
