//===- ExpandAttention.cpp - Attention as products and a softmax ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Runs before differentiation: the gradient of an attention that stays is a
// call as well, while the gradient of an expanded one reads the probabilities
// of the forward. Those are saved or computed again, as the budget requires.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/DeviceModel.h"
#include "gpuopt/Analysis/Trained.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
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
    if (cached && !inference) {
      FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
      if (failed(model))
        return signalPassFailure();
      if (!model->hasWarps())
        cacheInBytes = model->l2CacheInBytes;
    }
    getOperation()->walk([&](AttentionOp op) {
      StringRef reason = reasonToExpand(op);
      if (reason.empty()) {
        nameByResult(op);
        return;
      }
      if (op.getOrder() || !op.getStatistics().use_empty()) {
        op.emitOpError("cannot be expanded: expects no order of "
                       "dimensions and no reader of the statistics");
        return signalPassFailure();
      }
      ++expandedCount;
      remark::missed(
          op.getLoc(),
          remark::RemarkOpts::name("attention").category("expand-attention"))
          << ("attention is expanded, with its matrix of probabilities in "
              "memory: " +
              reason)
                 .str();
      OpBuilder builder(op);
      op.getResult().replaceAllUsesWith(op.expand(builder));
      op.erase();
    });
  }

  /// Names an attention after the node of its result, by which kernels and
  /// precisions know it. Its other nodes follow, for overrides that name them.
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
      return "the option 'all' is set";
    if (Value mask = op.getMask(); mask && !inference && isTrained(mask))
      return "its mask depends on parameters that are trained";
    StringRef reason = op.getReasonAgainstCall();
    if (!reason.empty())
      return reason;
    RankedTensorType scores = op.getScoresType();
    double bytes = double(scores.getNumElements()) *
                   scores.getElementTypeBitWidth() / CHAR_BIT;
    return bytes <= cacheInBytes
               ? "it fits in the processor's cache, where reading it takes "
                 "less time than computing it again"
               : "";
  }

  /// The most bytes of probabilities that are saved rather than computed again.
  double cacheInBytes = 0;
};

} // namespace
