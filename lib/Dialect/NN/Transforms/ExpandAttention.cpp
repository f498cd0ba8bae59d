//===- ExpandAttention.cpp - Attention as products and a softmax ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs before differentiation, so that the probabilities which the backward
// reads are those of the forward, saved or computed again as the budget says.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

namespace {

class ExpandAttention
    : public gpuopt::nn::impl::ExpandAttentionBase<ExpandAttention> {
  void runOnOperation() override {
    getOperation()->walk([](AttentionOp op) {
      OpBuilder builder(op);
      op.replaceAllUsesWith(op.expand(builder));
      op.erase();
    });
  }
};

} // namespace
