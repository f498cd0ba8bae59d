//===- RecognizeAttention.cpp - Finds attention in products and softmax ---===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// From each softmax, the pass walks down to the product with the values and up
// to the product of queries and keys (AttentionPattern.h). If it finds both, it
// replaces all of these ops at once by an nn.attention with the leading
// dimensions of the softmax.
//
// After the pass nothing of a recognised attention is left but nn.attention and
// layout changes of its operands and result.
//
//===----------------------------------------------------------------------===//

#include "AttentionPattern.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

namespace {

class RecognizeAttention
    : public gpuopt::nn::impl::RecognizeAttentionBase<RecognizeAttention> {
  void runOnOperation() override {
    SmallVector<SoftmaxOp> softmaxes;
    getOperation()->walk([&](SoftmaxOp op) { softmaxes.push_back(op); });
    for (SoftmaxOp softmax : softmaxes) {
      AttentionMatch match = matchAttention(softmax);
      if (!match.isBetweenProducts)
        continue;
      if (!match.problem.empty()) {
        ++missedCount;
        remark::missed(softmax.getLoc(), options()) << match.problem;
        continue;
      }
      ++recognizedCount;
      AttentionOp attention = rewrite(match);
      remark::passed(attention.getLoc(), options()) << describe(attention);
    }
    if (recognizedCount > 0)
      eraseDead();
  }

  static remark::RemarkOpts options() {
    return remark::RemarkOpts::name("attention")
        .category("recognize-attention");
  }

  //===--------------------------------------------------------------------===//
  // Rewriting
  //===--------------------------------------------------------------------===//

  static AttentionOp rewrite(const AttentionMatch &match) {
    ContractOp product = match.product;
    TensorBuilder b(AttentionOp::fuseLocations(match.parts), product);
    auto arranged = [&](const AttentionOperand &operand) {
      return arrange(b, operand, match.leading);
    };
    Value query = arranged(match.query), key = arranged(match.key),
          value = arranged(match.value);
    auto optional = [&](std::optional<double> number) {
      return number ? b.getF64FloatAttr(*number) : FloatAttr();
    };
    auto attention = b.create<AttentionOp>(
        query, key, value, inRank(b, maskOf(b, match), match),
        inRank(b, biasOf(b, match), match), b.getF64FloatAttr(match.scale),
        AttentionScalingAttr::get(b.getContext(), match.scaling),
        optional(match.softcap), optional(match.dropoutRatio),
        match.stream ? b.getI64IntegerAttr(*match.stream) : IntegerAttr(),
        optional(match.maskedValue),
        match.zeroesEmpty ? b.getUnitAttr() : UnitAttr(), DenseI64ArrayAttr(),
        DenseI64ArrayAttr());
    // The result gets the shape and the order of dimensions of the second
    // product.
    Value result = b.reshape(attention.getResult(), match.productShape);
    result = permuted(b, result, match.productPermutation);
    product.replaceAllUsesWith(result);
    return attention;
  }

  static Value negatedIf(TensorBuilder &b, bool isInverted, Value mask) {
    return isInverted
               ? b.createOrFold<arith::XOrIOp>(mask, b.splat(-1, b.type(mask)))
               : mask;
  }

  static Value maskOf(TensorBuilder &b, const AttentionMatch &match) {
    Value mask = negatedIf(b, match.isMaskInverted, match.mask);
    if (!match.innerMask)
      return mask;
    Value seen = match.innerMask->condition;
    DenseElementsAttr constant;
    if (matchPattern(seen, m_Constant(&constant)))
      seen = b.create<arith::ConstantOp>(withoutRepeats(constant));
    seen = negatedIf(b, match.innerMask->isInverted, seen);
    // Reshapes of constants are folded, broadcasts are not.
    auto common = TensorBuilder::commonShape(b.shape(mask), b.shape(seen));
    for (Value *part : {&mask, &seen}) {
      SmallVector<int64_t> shape(b.shape(*part));
      shape.insert(shape.begin(), common.size() - shape.size(), 1);
      *part = b.broadcast(b.reshape(*part, shape), common);
    }
    if (b.type(mask).getElementType().isInteger(1))
      return b.createOrFold<arith::AndIOp>(mask, seen);
    return b.select(seen, mask, b.add(mask, match.innerMask->hidden));
  }

  static Value biasOf(TensorBuilder &b, const AttentionMatch &match) {
    return match.biasShape.empty() ? match.bias
                                   : b.reshape(match.bias, match.biasShape);
  }

  /// Removes dimensions of 1 in front of a mask or a bias that has more
  /// dimensions than the scores.
  static Value inRank(TensorBuilder &b, Value value,
                      const AttentionMatch &match) {
    size_t rank = match.leading.size() + 2;
    if (!value || b.shape(value).size() <= rank)
      return value;
    return b.reshape(value, b.shape(value).take_back(rank));
  }

  void eraseDead() {
    getOperation()->walk<WalkOrder::PostOrder, ReverseIterator>(
        [](Operation *op) {
          if (isOpTriviallyDead(op))
            op->erase();
        });
  }

  //===--------------------------------------------------------------------===//
  // Remarks
  //===--------------------------------------------------------------------===//

  static std::string number(double value) {
    char text[32];
    snprintf(text, sizeof text, "%.7g", value);
    return text;
  }

  /// Returns such as "scores 2x4x8x9, heads of 16, boolean mask, scale 0.25 of
  /// the scores".
  static std::string describe(AttentionOp op) {
    std::string text = "scores ";
    ArrayRef<int64_t> shape = op.getScoresType().getShape();
    for (auto [index, size] : llvm::enumerate(shape))
      text += (index ? "x" : "") + std::to_string(size);
    text += llvm::formatv(", heads of {0}",
                          TensorBuilder::shape(op.getQuery()).back());
    if (op.getMask())
      text += TensorBuilder::type(op.getMask()).getElementType().isInteger(1)
                  ? ", boolean mask"
                  : ", added mask";
    if (op.getBias())
      text += ", bias";
    static constexpr StringLiteral kScaled[] = {"the scores", "the query",
                                                "query and key"};
    if (double scale = op.getScale().convertToDouble(); scale != 1)
      text += llvm::formatv(", scale {0} of {1}", number(scale),
                            kScaled[(int)op.getScaling()]);
    if (op.getSoftcap())
      text += ", soft cap " + number(op.getSoftcap()->convertToDouble());
    if (op.getDropoutRatio())
      text += ", dropout " + number(op.getDropoutRatio()->convertToDouble());
    return text + (op.getZeroesEmpty() ? ", zeroes of empty rows" : "");
  }
};

} // namespace
