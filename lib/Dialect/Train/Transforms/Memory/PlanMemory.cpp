//===- PlanMemory.cpp - Where the tensors of a step lie -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Dialect/Train/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"

namespace gpuopt::train {
#define GEN_PASS_DEF_PLANMEMORY
#include "gpuopt/Dialect/Train/Transforms/Passes.h.inc"
} // namespace gpuopt::train

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

/// From here on nothing merges equal ops, and repeats need no region.
static void inlineRepeats(StepOp step) {
  for (auto repeat :
       llvm::make_early_inc_range(step.getBody().getOps<RecomputeOp>())) {
    Block &body = repeat.getBody().front();
    for (auto [argument, input] :
         llvm::zip(body.getArguments(), repeat.getInputs()))
      argument.replaceAllUsesWith(input);
    Operation *yield = body.getTerminator();
    repeat.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    for (Operation &op : body)
      op.setAttr(kRecomputedAttribute, repeat.getReasonAttr());
    repeat->getBlock()->getOperations().splice(repeat->getIterator(),
                                               body.getOperations());
    repeat.erase();
  }
}

static bool hasOffsets(StepOp step) {
  return llvm::any_of(step.getBody().front(), [](Operation &op) {
    return op.hasAttr(kOffsetsAttribute);
  });
}

namespace {

class PlanMemory : public train::impl::PlanMemoryBase<PlanMemory> {
public:
  using PlanMemoryBase::PlanMemoryBase;

private:
  void runOnOperation() override {
    for (StepOp step : getOperation().getOps<StepOp>()) {
      inlineRepeats(step);
      if (hasOffsets(step))
        continue;
      llvm::StringMap<unsigned> names;
      StepMemory memory(step, names);
      if (failed(memory.pack()))
        return signalPassFailure();
      remark::analysis(step.getLoc(),
                       remark::RemarkOpts::name("packed").category("arena"))
          << remark::metric("bytes", memory.getHeight())
          << remark::metric("lowerLimit", memory.getLowerLimit());
      memory.writeOffsets();
    }
  }
};

} // namespace
