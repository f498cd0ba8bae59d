//===- MarkFastMath.cpp - Says what may take few instructions -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs when kernels are formed, so that their costs count quotients as they
// will be, and again when casts are inserted, which tell what comes from half
// precision. Marks are only added. Afterwards no pass asks what is allowed: the
// schedule may compute a part of a kernel again, in which less is known, and it
// has to have the same bits.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/FastFunctions.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_MARKFASTMATH
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

int64_t kernels::markFastMath(Block &block) {
  int64_t count = 0;
  block.walk([&](FusedOp op) { // those of loops, too
    for (Operation &inner : op.getBody().front())
      count += gpuopt::markFastMath(&inner);
  });
  return count;
}

namespace {

class MarkFastMath : public kernels::impl::MarkFastMathBase<MarkFastMath> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      markedCount += kernels::markFastMath(step.getBody().front());
    });
  }
};

} // namespace
