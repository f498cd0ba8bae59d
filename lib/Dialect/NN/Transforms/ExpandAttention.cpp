//===- ExpandAttention.cpp - Attention as products and a softmax ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs before differentiation: the gradient of what stays is a call as well,
// and that of what is expanded reads the probabilities of the forward, which
// are saved or computed again as the budget says.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Trained.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

class ExpandAttention : public nn::impl::ExpandAttentionBase<ExpandAttention> {
public:
  using ExpandAttentionBase::ExpandAttentionBase;

private:
  void runOnOperation() override {
    getOperation()->walk([&](AttentionOp op) {
      StringRef reason = reasonToExpand(op);
      if (reason.empty()) {
        // Kernels and precisions know the whole by the node of its result.
        op->setLoc(op.getLocOf(AttentionOp::Part::Product));
        return;
      }
      ++expandedCount;
      remark::missed(
          op.getLoc(),
          remark::RemarkOpts::name("attention").category("expand-attention"))
          << ("attention is spelled out, with its matrix of probabilities in "
              "memory: " +
              reason)
                 .str();
      OpBuilder builder(op);
      op.getResult().replaceAllUsesWith(op.expand(builder));
      op.erase();
    });
  }

  StringRef reasonToExpand(AttentionOp op) const {
    if (all)
      return "it was asked for";
    if (Value mask = op.getMask(); mask && isTrained(mask))
      return "its mask is trained";
    return op.getReasonAgainstCall();
  }
};

} // namespace
