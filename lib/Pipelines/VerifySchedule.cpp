//===- VerifySchedule.cpp - What holds after the phase schedule -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Steps.h"
#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYSCHEDULE
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

using train::StepOp;

/// Returns whether an op repeats work. It is a recomputation in a region of its
/// own, an op with a mark once that region is gone, or a reload from the host,
/// which takes the place of work.
static bool isRepeat(Operation &op) {
  return isa<train::RecomputeOp, train::ReloadOp>(op) ||
         op.hasAttr(train::kRecomputedAttribute);
}

/// Returns a variable of `written` that an op reads; null if there is none.
static FlatSymbolRefAttr findRead(Operation &op,
                                  const llvm::DenseSet<Attribute> &written) {
  for (Value operand : op.getOperands())
    if (auto read = sourceOf(operand).getDefiningOp<train::ReadOp>();
        read && written.contains(read.getVariableAttr()))
      return read.getVariableAttr();
  return nullptr;
}

static LogicalResult verifyStep(StepOp step) {
  int64_t count = 0;
  llvm::DenseSet<Attribute> written;
  for (Operation &op : step.getBody().front()) {
    if (isRepeat(op)) {
      ++count;
      if (op.use_empty()) // (I2)
        return op.emitOpError("is computed again, but nothing reads it");
      if (FlatSymbolRefAttr variable = findRead(op, written)) // (I4)
        return op.emitOpError("is computed again from ")
               << variable << ", which has been written before it";
    }
    for (FlatSymbolRefAttr variable : train::variablesWritten(&op))
      written.insert(variable);
  }
  train::PlanAttr plan =
      train::TrainDialect::PlanAttrHelper(step.getContext()).getAttr(step);
  int64_t expected = plan ? plan.getRepeats() : 0;
  if (count != expected) // (I1)
    return step.emitOpError("expects as many 'train.recompute' and "
                            "'train.reload' ops as it was scheduled with, ")
           << expected << ", but got " << count;
  return success();
}

namespace {

class VerifySchedule : public gpuopt::impl::VerifyScheduleBase<VerifySchedule> {
  void runOnOperation() override {
    if (failed(verifyState(getOperation()))) // (I3)
      return signalPassFailure();
    for (StepOp step : stepsToVerify(getOperation(), "schedule"))
      if (failed(verifyStep(step)))
        signalPassFailure();
  }
};

} // namespace
