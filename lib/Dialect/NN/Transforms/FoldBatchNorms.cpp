//===- FoldBatchNorms.cpp - Batch norms as part of convolutions -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The last convolution of a bottleneck makes four channels of one, and takes
// next to no arithmetic: its time, and that of its batch norm, is that of the
// memory of its result, which is written once and read six times in a step. A
// convolution of single pixels is a product, of whose result the mean and the
// variance follow from the mean and the covariance of its input's channels. So
// the batch norm can be a factor of the weights, and nothing needs the result
// before it. (Inference folds batch norms in the same way, with constants.)
//
// Runs before the steps are built, since the step that evaluates the model has
// the running statistics instead, and since the gradient is that of the
// product. It changes the rounding, and is for GPUs and half precision alone:
// it saves memory traffic at the price of products, whose rates are far apart
// there.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_FOLDBATCHNORMS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

/// Products in half precision read vectors of so many channels.
static constexpr int64_t kVector = 8;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// Returns the convolution whose result, perhaps with a bias of zeros as
/// exporters write it, the batch norm alone reads; null if there is none.
static ConvOp convolutionOf(BatchNormOp norm) {
  Value input = norm.getInput();
  if (!input.hasOneUse())
    return {};
  if (auto sum = input.getDefiningOp<arith::AddFOp>();
      sum && matchPattern(sum.getRhs(), m_AnyZeroFloat()))
    input = sum.getLhs();
  auto conv = input.getDefiningOp<ConvOp>();
  return conv && input.hasOneUse() ? conv : ConvOp();
}

namespace {

class FoldBatchNorms
    : public gpuopt::nn::impl::FoldBatchNormsBase<FoldBatchNorms> {
public:
  using FoldBatchNormsBase::FoldBatchNormsBase;

private:
  void runOnOperation() override {
    SmallVector<BatchNormOp> norms;
    getOperation()->walk([&](BatchNormOp norm) { norms.push_back(norm); });
    for (BatchNormOp norm : norms)
      if (ConvOp conv = convolutionOf(norm); conv && canFold(conv, norm))
        fold(conv, norm);
  }

  bool canFold(ConvOp conv, BatchNormOp norm) const {
    int64_t inputs = shapeOf(conv.getInput()).back(),
            outputs = shapeOf(conv.getResult()).back();
    return !norm.getFrozen() && isPointwise(conv) && inputs % kVector == 0 &&
           outputs % kVector == 0 &&
           double(outputs) >= ratio * double(inputs) &&
           norm.getMean().use_empty() && norm.getRstd().use_empty();
  }

  void fold(ConvOp conv, BatchNormOp norm) {
    OpBuilder builder(norm);
    // The convolution's name comes first: by it precisions are chosen.
    auto folded = ConvBatchNormOp::create(
        builder, builder.getFusedLoc({conv.getLoc(), norm.getLoc()}),
        conv.getInput(), conv.getWeights(), norm.getScale(), norm.getBias(),
        norm.getRunningMean(), norm.getRunningVariance(), norm.getEpsilonAttr(),
        norm.getMomentumAttr());
    norm.getResult().replaceAllUsesWith(folded.getResult());
    norm.getNewMean().replaceAllUsesWith(folded.getNewMean());
    norm.getNewVariance().replaceAllUsesWith(folded.getNewVariance());
    Operation *sum = norm.getInput().getDefiningOp();
    norm.erase();
    if (sum != conv)
      sum->erase();
    conv.erase();
    ++foldedCount;
  }
};

} // namespace
