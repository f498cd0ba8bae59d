//===- StepEstimate.cpp - How long a program's step takes -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/StepEstimate.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace gpuopt;

/// Adds a step that runs `count` times in one step of training.
static void addStep(train::StepOp step, const DeviceModel &device,
                    int64_t count, StepEstimate &estimate) {
  for (Operation &op : step.getBody().front()) {
    double rated = timeInNanoseconds(workOf(&op, device), device);
    if (rated == 0) // no work
      continue;
    double time = timeInNanoseconds(&op, device);
    estimate.nanosecondsOfRuns[step.getSymName()] += time;
    if (count == 0)
      continue;
    ++estimate.ops;
    estimate.nanoseconds += double(count) * time;
    estimate.ratedNanoseconds += double(count) * rated;
    if (!isMeasured(&op, device))
      continue;
    ++estimate.measuredOps;
    estimate.measuredNanoseconds += double(count) * time;
    estimate.ratedMeasuredNanoseconds += double(count) * rated;
  }
}

StepEstimate gpuopt::estimateStep(ModuleOp module, const DeviceModel &device,
                                  int64_t accumulationSteps) {
  StepEstimate estimate;
  for (train::StepOp step : module.getOps<train::StepOp>()) {
    if (step.getKind() == train::StepKind::Micro)
      addStep(step, device, accumulationSteps, estimate);
    else if (step.getKind() == train::StepKind::Update)
      addStep(step, device, 1, estimate);
    else
      addStep(step, device, 0, estimate);
  }
  return estimate;
}
