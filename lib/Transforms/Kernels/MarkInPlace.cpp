//===- MarkInPlace.cpp - Results that take an operand's place -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs after all kernels, copies and casts are formed, and before the schedule,
// which has to know which results need no memory of their own. Afterwards no op
// may be added that reads an overwritten operand; StepMemory checks it.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/InPlaceResults.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_MARKINPLACE
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

int64_t kernels::markInPlace(Block &block) {
  int64_t count = 0;
  for (FusedOp op : block.getOps<FusedOp>()) {
    SmallVector<int64_t> operands = chooseInPlace(op);
    int64_t marked = operands.size() - llvm::count(operands, -1);
    if (marked > 0)
      op.setInPlace(operands);
    count += marked;
  }
  return count;
}

namespace {

class MarkInPlace : public kernels::impl::MarkInPlaceBase<MarkInPlace> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      markedCount += kernels::markInPlace(step.getBody().front());
    });
  }
};

} // namespace
