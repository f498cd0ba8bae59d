//===- VerifyMemory.cpp - What holds after the phase memory ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYMEMORY
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

/// Checks that the arena is no larger than the schedule has promised, whatever
/// passes have run since.
static LogicalResult verifyPromise(train::StepOp step,
                                   const StepMemory &memory) {
  train::PlanAttr plan =
      train::TrainDialect::PlanAttrHelper(step.getContext()).getAttr(step);
  if (!plan || memory.getHeight() <= plan.getArenaBytes()) // (I4)
    return success();
  return step.emitOpError("expects an arena of ")
         << plan.getArenaBytes() << " bytes, as it was scheduled, but needs "
         << memory.getHeight();
}

namespace {

class VerifyMemory : public gpuopt::impl::VerifyMemoryBase<VerifyMemory> {
  void runOnOperation() override {
    for (train::StepOp step : stepsToVerify(getOperation(), "memory")) {
      llvm::StringMap<unsigned> names;
      StepMemory memory(step, names);
      if (failed(memory.readOffsets()) || // (I1), (I2), (I3)
          failed(verifyPromise(step, memory)))
        signalPassFailure();
    }
  }
};

} // namespace
