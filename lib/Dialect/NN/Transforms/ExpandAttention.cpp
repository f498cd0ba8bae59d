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
        nameByResult(op);
        return;
      }
      if (op.getOrder() || !op.getStatistics().use_empty()) {
        op.emitOpError("cannot be spelled out any more: expects no order of "
                       "dimensions, and that nothing reads the statistics");
        return signalPassFailure();
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

  /// Kernels and precisions know the whole by the node of its result. The
  /// others are behind it, for overrides that name them.
  static void nameByResult(AttentionOp op) {
    SmallVector<Location> nodes{op.getLocOf(AttentionOp::Part::Product)};
    if (auto fused = dyn_cast<FusedLoc>(op.getLoc()))
      for (Location node : fused.getLocations())
        if (!llvm::is_contained(nodes, node))
          nodes.push_back(node);
    op->setLoc(FusedLoc::get(op.getContext(), nodes));
  }

  StringRef reasonToExpand(AttentionOp op) const {
    if (all)
      return "it was asked for";
    if (Value mask = op.getMask(); mask && !inference && isTrained(mask))
      return "its mask is trained";
    return op.getReasonAgainstCall();
  }
};

} // namespace
