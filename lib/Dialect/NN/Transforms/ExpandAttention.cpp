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

/// How many times as large as all probabilities of a step a cache must be. The
/// other tensors between forward and backward share it.
static constexpr double kLeastCachesPerStep = 8;

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
      keepsProbabilities =
          !model->hasWarps() &&
          bytesOfProbabilities() * kLeastCachesPerStep <= model->l2CacheInBytes;
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
    return keepsProbabilities && !op.getBias()
               ? "the probabilities of the step are few, and a cache keeps "
                 "them, "
                 "where reading them takes less time than computing them again"
               : "";
  }

  /// Returns the bytes of the probabilities of all attentions without a bias.
  /// They are alive together, from the forward to the backward.
  double bytesOfProbabilities() {
    double bytes = 0;
    getOperation()->walk([&](AttentionOp op) {
      if (op.getBias())
        return;
      RankedTensorType scores = op.getScoresType();
      bytes += double(scores.getNumElements()) *
               scores.getElementTypeBitWidth() / CHAR_BIT;
    });
    return bytes;
  }

  /// Whether the backward reads the probabilities of attentions without a bias
  /// rather than computing them again.
  bool keepsProbabilities = false;
};

} // namespace
