//===- JoinPads.cpp - Pads become concatenations --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of a split is a sum of padded tensors, one for each part. Where
// the parts tile the whole, the sum becomes a concatenation, into whose memory
// each part is written directly.
//
//===----------------------------------------------------------------------===//

#include "LayoutPatterns.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace gpuopt::nn;

/// Returns the one dimension that a pad extends with zeros at its ends.
static std::optional<int64_t> paddedDim(PadOp pad) {
  std::optional<int64_t> found;
  for (int64_t dim = 0; dim < (int64_t)pad.getLow().size(); ++dim) {
    if (pad.getInterior()[dim])
      return std::nullopt;
    if (!pad.getLow()[dim] && !pad.getHigh()[dim])
      continue;
    if (found)
      return std::nullopt;
    found = dim;
  }
  auto value = dyn_cast<FloatAttr>(pad.getValue());
  if (!value || !value.getValue().isZero())
    return std::nullopt;
  return found;
}

static Value constantLike(TensorBuilder &b, RankedTensorType type, int64_t dim,
                          int64_t size, TypedAttr value) {
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = size;
  auto filled =
      DenseElementsAttr::get(type.clone(shape), ArrayRef<Attribute>(value));
  return b.create<arith::ConstantOp>(filled);
}

namespace {

/// Turns pad(a) + pad(b), with a before b and no overlap, into pad(concat(a,
/// zeros, b)).
struct JoinTwoPads : OpRewritePattern<arith::AddFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::AddFOp op,
                                PatternRewriter &rewriter) const override {
    auto first = op.getLhs().getDefiningOp<PadOp>(),
         second = op.getRhs().getDefiningOp<PadOp>();
    if (!first || !second || !first->hasOneUse() || !second->hasOneUse())
      return failure();
    std::optional<int64_t> dim = paddedDim(first);
    if (!dim || paddedDim(second) != dim)
      return failure();
    if (second.getLow()[*dim] < first.getLow()[*dim])
      std::swap(first, second);
    TensorBuilder b(op.getLoc(), rewriter);
    int64_t firstEnd = first.getLow()[*dim] + b.shape(first.getInput())[*dim];
    int64_t gap = second.getLow()[*dim] - firstEnd;
    if (gap < 0)
      return failure();
    SmallVector<Value> parts{first.getInput()};
    if (gap > 0)
      parts.push_back(
          constantLike(b, first.getType(), *dim, gap, first.getValue()));
    parts.push_back(second.getInput());
    Value joined = b.create<ConcatOp>(flatten(parts, *dim), *dim);
    if (joined.getType() == op.getType()) {
      rewriter.replaceOp(op, joined);
      return success();
    }
    rewriter.replaceOpWithNewOp<PadOp>(op, joined, first.getLow(),
                                       second.getHigh(), first.getInterior(),
                                       first.getValue());
    return success();
  }

  /// Returns the parts of a concatenation; a part that is a concatenation along
  /// the same dimension is taken apart.
  static SmallVector<Value> flatten(ArrayRef<Value> parts, int64_t dim) {
    SmallVector<Value> all;
    for (Value part : parts) {
      auto inner = part.getDefiningOp<ConcatOp>();
      if (inner && inner->hasOneUse() && (int64_t)inner.getDim() == dim)
        llvm::append_range(all, inner.getInputs());
      else
        all.push_back(part);
    }
    return all;
  }
};

/// Turns pad(x) into concatenations with the constant before and after x, one
/// dimension at a time.
struct PadToConcat : OpRewritePattern<PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PadOp op,
                                PatternRewriter &rewriter) const override {
    TensorBuilder b(op.getLoc(), rewriter);
    Value value = op.getInput();
    for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
      if (int64_t interior = op.getInterior()[dim])
        value = spread(b, value, dim, interior, op.getValue());
      value = surround(b, value, dim, op.getLow()[dim], op.getHigh()[dim],
                       op.getValue());
    }
    rewriter.replaceOp(op, value);
    return success();
  }

  static Value surround(TensorBuilder &b, Value value, int64_t dim, int64_t low,
                        int64_t high, TypedAttr fill) {
    SmallVector<Value> parts;
    if (low)
      parts.push_back(constantLike(b, b.type(value), dim, low, fill));
    parts.push_back(value);
    if (high)
      parts.push_back(constantLike(b, b.type(value), dim, high, fill));
    return parts.size() == 1 ? value
                             : b.create<ConcatOp>(parts, dim).getResult();
  }

  /// Inserts constants between elements: [n] becomes [n, 1], is filled up to
  /// [n, 1 + interior] and flattened, and the rest is cut off.
  static Value spread(TensorBuilder &b, Value value, int64_t dim,
                      int64_t interior, TypedAttr fill) {
    SmallVector<int64_t> shape(b.shape(value));
    int64_t size = shape[dim];
    if (size == 0)
      return value;
    shape.insert(shape.begin() + dim + 1, 1);
    Value spread =
        surround(b, b.reshape(value, shape), dim + 1, 0, interior, fill);
    shape.erase(shape.begin() + dim + 1);
    shape[dim] = size * (1 + interior);
    Value flat = b.reshape(spread, shape);
    SmallVector<int64_t> offsets(shape.size(), 0), strides(shape.size(), 1);
    shape[dim] = (size - 1) * (1 + interior) + 1;
    return b.createOrFold<SliceOp>(flat, offsets, shape, strides);
  }
};

} // namespace

void gpuopt::nn::populateJoinPads(RewritePatternSet &patterns) {
  patterns.add<JoinTwoPads>(patterns.getContext());
}
void gpuopt::nn::populatePadsToConcats(RewritePatternSet &patterns) {
  patterns.add<PadToConcat>(patterns.getContext());
}
