//===- GroupByKernel.h - Schedules that a step can follow -------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_GROUPBYKERNEL_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_GROUPBYKERNEL_H

#include "gpuopt/Analysis/Memory/StepGraph.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

namespace gpuopt::train {

/// Puts the first executions of an op's results together. For the solver each
/// result is an op of its own, so it may repeat something between the first
/// executions of two of them; but the op itself runs as a whole, at the first.
/// What was repeated in between is repeated before, and repeats that nothing
/// reads then are left out. The cost does not grow; the peak may.
planning::Schedule groupByKernel(const StepGraph &graph,
                                 const planning::Schedule &schedule);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_GROUPBYKERNEL_H
