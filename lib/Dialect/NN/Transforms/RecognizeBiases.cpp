//===- RecognizeBiases.cpp - Trained biases of attention ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The relative positions of T5 and Swin are trained, and are added to the
// scores of attention as masks are. This pass makes them biases, whose gradient
// is part of nn.attention_grad. The decoder of T5 selects between them and a
// number that hides later keys; this selection becomes the mask, which may be a
// band then.
//
// The pass runs before half precision is assigned. A bias has the type of sums,
// so a mask in half precision stays a mask, and a remark says so.
//
// After the pass, a mask depends on trained parameters only if the attention
// has a bias that does, too, or if the mask is in half precision.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Trained.h"
#include "gpuopt/Dialect/NN/IR/HiddenScores.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOGNIZEBIASES
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

/// A tensor that is added to the scores, taken apart.
struct Parts {
  Value bias, mask;
  bool isMaskInverted = false; ///< True hides a score.
  std::optional<double> maskedValue = std::nullopt;
};

} // namespace

static Value withoutBroadcast(Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  return broadcast ? broadcast.getInput() : value;
}

/// Takes the sum of a trained tensor and one that is not trained apart.
static std::optional<Parts> partsOfSum(arith::AddFOp sum) {
  bool isFirst = isTrained(sum.getLhs());
  if (isFirst == isTrained(sum.getRhs()))
    return std::nullopt;
  Value bias = isFirst ? sum.getLhs() : sum.getRhs(),
        mask = isFirst ? sum.getRhs() : sum.getLhs();
  return Parts{withoutBroadcast(bias), withoutBroadcast(mask)};
}

/// Whether each row of a constant condition has an element that is `value`.
static bool eachRowHas(Value condition, bool value) {
  DenseElementsAttr constant;
  if (!matchPattern(withoutBroadcast(condition), m_Constant(&constant)) ||
      constant.getType().getRank() == 0)
    return false;
  int64_t columns = constant.getType().getShape().back();
  auto elements = llvm::to_vector(constant.getValues<bool>());
  for (int64_t row = 0; row < (int64_t)elements.size(); row += columns)
    if (!llvm::is_contained(ArrayRef(elements).slice(row, columns), value))
      return false;
  return true;
}

/// Takes the selection between a trained tensor and a number that hides keys
/// apart.
static std::optional<Parts> partsOfSelection(arith::SelectOp select) {
  Parts parts{select.getTrueValue(), select.getCondition()};
  Value other = select.getFalseValue();
  if (matchPattern(parts.bias, m_Constant())) {
    parts.isMaskInverted = true;
    std::swap(parts.bias, other);
  }
  DenseFPElementsAttr hidden;
  if (!matchPattern(other, m_Constant(&hidden)) || !hidden.isSplat() ||
      !isa<RankedTensorType>(parts.mask.getType()))
    return std::nullopt;
  APFloat number = hidden.getSplatValue<APFloat>();
  if (!hidesKeys(number))
    return std::nullopt;
  if (!number.isInfinity()) {
    if (!eachRowHas(parts.mask, !parts.isMaskInverted))
      return std::nullopt;
    parts.maskedValue = toDouble(number);
  }
  parts.bias = withoutBroadcast(parts.bias);
  parts.mask = withoutBroadcast(parts.mask);
  return parts;
}

/// Takes a trained tensor that is added to the scores apart. If that cannot be
/// done, all of it is the bias.
static Parts partsOf(Value added) {
  std::optional<Parts> parts;
  if (auto sum = added.getDefiningOp<arith::AddFOp>())
    parts = partsOfSum(sum);
  else if (auto select = added.getDefiningOp<arith::SelectOp>())
    parts = partsOfSelection(select);
  return parts.value_or(Parts{added, Value()});
}

namespace {

class RecognizeBiases : public nn::impl::RecognizeBiasesBase<RecognizeBiases> {
  void runOnOperation() override {
    getOperation()->walk([&](AttentionOp op) {
      Value mask = op.getMask();
      if (!mask || !isTrained(mask))
        return;
      if (op.getBias() && isTrained(op.getBias()))
        return;
      auto options =
          remark::RemarkOpts::name("bias").category("recognize-biases");
      if (TensorBuilder::type(mask).getElementType() !=
          TensorBuilder::type(op.getStatistics()).getElementType()) {
        remark::missed(op.getLoc(), options)
            << "a trained mask in half precision is no bias";
        return;
      }
      ++recognizedCount;
      setParts(op, op.getBias() ? Parts{mask, op.getBias()} : partsOf(mask));
      remark::passed(op.getLoc(), options)
          << (op.getMask()
                  ? "what is added to the scores is a trained bias and "
                    "a mask"
                  : "what is added to the scores is a trained bias");
    });
  }

  static void setParts(AttentionOp op, const Parts &parts) {
    TensorBuilder b(op.getLoc(), op);
    Value mask = parts.mask;
    if (parts.isMaskInverted)
      mask = b.createOrFold<arith::XOrIOp>(mask, b.splat(-1, b.type(mask)));
    op.getMaskMutable().clear();
    if (mask)
      op.getMaskMutable().assign(mask);
    op.getBiasMutable().assign(parts.bias);
    if (parts.maskedValue)
      op.setMaskedValueAttr(b.getF64FloatAttr(*parts.maskedValue));
  }
};

} // namespace
