//===- KernelEstimates.cpp - What each kernel of a step takes -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/KernelEstimates.h"

#include "gpuopt/Analysis/Costs/CostKey.h"
#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace gpuopt;

namespace {
using Estimates = llvm::MapVector<StringAttr, KernelEstimate>;
} // namespace

/// Adds `op` where it is executed `count` times in a training step.
static void addOp(Operation *op, const DeviceModel &device, int64_t count,
                  Estimates &estimates) {
  OpWork work = workOf(op, device);
  double time = timeInNanoseconds(op, device);
  if (time == 0)
    return;
  std::string key = costKeyOf(op).work;
  KernelEstimate &estimate = estimates[StringAttr::get(op->getContext(), key)];
  estimate.work = key;
  estimate.executions += count;
  estimate.launches += count * int64_t(work.launches);
  estimate.nanoseconds += double(count) * time;
  estimate.bytes += double(count) * (work.bytesRead + work.bytesWritten);
  estimate.operations += double(count) * work.operations;
  estimate.limitNanoseconds += double(count) * limitInNanoseconds(work, device);
  estimate.loadsInFlight = work.loadsInFlight;
  estimate.laneInstructions += double(count) * work.laneInstructions;
}

static void addStep(train::StepOp step, const DeviceModel &device,
                    int64_t count, Estimates &estimates) {
  step.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<train::RecomputeOp>(op))
      return WalkResult::advance();
    if (!op->hasTrait<OpTrait::IsTerminator>())
      addOp(op, device, count, estimates);
    return WalkResult::skip(); // the body of a kernel
  });
}

std::vector<KernelEstimate> gpuopt::estimateKernels(ModuleOp module,
                                                    const DeviceModel &device,
                                                    int64_t accumulationSteps) {
  Estimates estimates;
  for (train::StepOp step : module.getOps<train::StepOp>()) {
    if (step.getKind() == train::StepKind::Micro)
      addStep(step, device, accumulationSteps, estimates);
    else if (step.getKind() == train::StepKind::Update)
      addStep(step, device, 1, estimates);
  }
  std::vector<KernelEstimate> found;
  for (auto &[work, estimate] : estimates)
    found.push_back(std::move(estimate));
  return found;
}
