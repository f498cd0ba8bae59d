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

/// Returns how often a step runs in one step of training.
static int64_t runsOf(train::StepOp step, int64_t accumulationSteps) {
  if (step.getKind() == train::StepKind::Micro)
    return accumulationSteps;
  return step.getKind() == train::StepKind::Update ? 1 : 0;
}

StepEstimate gpuopt::estimateStep(ModuleOp module, const DeviceModel &device,
                                  int64_t accumulationSteps) {
  StepEstimate estimate;
  for (train::StepOp step : module.getOps<train::StepOp>())
    addStep(step, device, runsOf(step, accumulationSteps), estimate);
  return estimate;
}

double gpuopt::nanosecondsOfRepeats(ModuleOp scheduled,
                                    int64_t accumulationSteps) {
  train::TrainDialect::PlanAttrHelper plans(scheduled.getContext());
  double nanoseconds = 0;
  for (train::StepOp step : scheduled.getOps<train::StepOp>())
    if (train::PlanAttr plan = plans.getAttr(step))
      nanoseconds += double(runsOf(step, accumulationSteps)) *
                     plan.getAddedNanoseconds().getValueAsDouble();
  return nanoseconds;
}
