//===- KernelEstimates.h - What each kernel of a step takes -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_COSTS_KERNELESTIMATES_H
#define GPUOPT_ANALYSIS_COSTS_KERNELESTIMATES_H

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace gpuopt {

/// All executions of a kernel or a call in one training step.
struct KernelEstimate {
  std::string work;       ///< As in CostKey.
  int64_t executions = 0; ///< Of ops; several may share a launch.
  int64_t launches = 0;
  double nanoseconds = 0;
  double bytes = 0;            ///< Read and written.
  double operations = 0;       ///< In floating point.
  double limitNanoseconds = 0; ///< The least time (limitInNanoseconds).
  double loadsInFlight = 0;    ///< In one thread; 0 for a library's calls.
  double laneInstructions = 0; ///< 0 where lanes only feed matrix units.
};

/// Returns what is executed in a training step, in the order of the first
/// executions; `module` is scheduled, or has formed kernels at least.
std::vector<KernelEstimate> estimateKernels(mlir::ModuleOp module,
                                            const DeviceModel &device,
                                            int64_t accumulationSteps);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_COSTS_KERNELESTIMATES_H
