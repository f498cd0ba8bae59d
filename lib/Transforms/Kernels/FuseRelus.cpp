//===- FuseRelus.cpp - ReLUs as epilogues of products ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A ReLU behind a product, or behind the sum of a product and the other way of
// a residual connection, takes the memory's time alone: it reads what the
// product has written a moment before. The library's epilogue has that at hand.
// It also keeps a bit for each element, by which the product that makes the
// gradient of the ReLU's result can mask it, together with the gradient of the
// other way. So of nine accesses to tensors of the result's size, four are
// left.
//
// In full precision a product waits for its operands, and what is saved is
// little.
//
// Runs when kernels are formed, before sums over columns join them: those of a
// masked gradient stay kernels of their own, which the estimates count. Types
// are not chosen yet; the products that are made here have the types of their
// operands.
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"
#include "EpilogueProducts.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_FUSERELUS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// What kernels compute
//===----------------------------------------------------------------------===//

/// The operands of a kernel that are added up: tensors of its result's type,
/// and a row that is repeated, if there is one.
struct Terms {
  SmallVector<Value> tensors;
  Value row;
};

static Value inputOf(FusedOp kernel, BlockArgument argument) {
  return kernel.getInputs()[argument.getArgNumber()];
}

/// Adds the terms of a sum; returns false if one is not an operand.
static bool addTerms(FusedOp kernel, Value value, Terms &terms) {
  if (auto sum = value.getDefiningOp<arith::AddFOp>())
    return addTerms(kernel, sum.getLhs(), terms) &&
           addTerms(kernel, sum.getRhs(), terms);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    // A product adds each term once.
    if (llvm::is_contained(terms.tensors, inputOf(kernel, argument)))
      return false;
    terms.tensors.push_back(inputOf(kernel, argument));
    return argument.getType() == kernel.getResult(0).getType();
  }
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  auto argument =
      broadcast ? dyn_cast<BlockArgument>(broadcast.getInput()) : nullptr;
  if (!argument || terms.row)
    return false;
  terms.row = inputOf(kernel, argument);
  std::optional<StridedView> view = viewOf(terms.row);
  return cast<RankedTensorType>(argument.getType()).getRank() == 1 && view &&
         view->isDense();
}

static bool isZero(Value value) {
  return matchPattern(value, m_AnyZeroFloat());
}

/// Returns what a kernel applies a ReLU to, if it does nothing else.
static std::optional<Terms> termsOfRelu(FusedOp kernel) {
  if (kernel.getNumResults() != 1)
    return std::nullopt;
  auto relu = yieldedBy(kernel)[0].getDefiningOp<arith::MaximumFOp>();
  if (!relu || (!isZero(relu.getLhs()) && !isZero(relu.getRhs())))
    return std::nullopt;
  Terms terms;
  Value operand = isZero(relu.getRhs()) ? relu.getLhs() : relu.getRhs();
  return addTerms(kernel, operand, terms) ? std::optional(terms) : std::nullopt;
}

namespace {

/// A gradient that a kernel masks: `terms` where the result of the ReLU is
/// above zero.
struct MaskedGradient {
  Value relu;
  Terms terms;
};

} // namespace

static std::optional<MaskedGradient> maskedGradientOf(FusedOp kernel) {
  if (kernel.getNumResults() != 1)
    return std::nullopt;
  auto select = yieldedBy(kernel)[0].getDefiningOp<arith::SelectOp>();
  auto mask = select ? select.getCondition().getDefiningOp<arith::CmpFOp>()
                     : arith::CmpFOp();
  if (!mask || mask.getPredicate() != arith::CmpFPredicate::OGT ||
      !isZero(mask.getRhs()) || !isZero(select.getFalseValue()))
    return std::nullopt;
  auto argument = dyn_cast<BlockArgument>(mask.getLhs());
  if (!argument)
    return std::nullopt;
  MaskedGradient gradient{inputOf(kernel, argument), {}};
  bool isSum = addTerms(kernel, select.getTrueValue(), gradient.terms) &&
               !gradient.terms.row;
  return isSum ? std::optional(gradient) : std::nullopt;
}

namespace {

class FuseRelus
    : public kernels::WarpDevicePass<kernels::impl::FuseRelusBase<FuseRelus>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  LogicalResult readOptions() override {
    return readHalfType(getOperation(), halfType, half);
  }

  void runOn(const DeviceModel &loaded) override {
    if (!half || hasOverrides)
      return;
    model = loaded;
    SmallVector<FusedOp> kernels;
    getOperation().walk([&](FusedOp kernel) { kernels.push_back(kernel); });
    for (FusedOp &kernel : kernels)
      if (fuseForward(kernel))
        kernel = {};
    for (FusedOp kernel : kernels)
      if (kernel)
        fuseBackward(kernel);
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  double timeOf(Operation *op) const {
    return timeInPrecision(op, half, model);
  }

  bool isFaster(double together, double apart, Value result) {
    bool isEpilogue = isFasterAtOnce(result, together, apart);
    epilogueCount += isEpilogue;
    return isEpilogue;
  }

  /// What reading a gradient for the sums of its columns takes, which the
  /// kernel that masks it would have added up without.
  double timeOfSums(Value gradient) const {
    bool isSummed = llvm::any_of(gradient.getUsers(), [](Operation *user) {
      auto kernel = dyn_cast<FusedOp>(user);
      return kernel && sumsColumns(kernel);
    });
    double bytes = bytesTouched(gradient) / (half ? 2 : 1);
    return isSummed ? 1e9 * bytes / model.bytesPerSecond : 0;
  }

  //===--------------------------------------------------------------------===//
  // The ReLU
  //===--------------------------------------------------------------------===//

  /// Returns the product, of the terms, that is made last, if nothing but the
  /// kernel reads it.
  static ContractOp lastProductOf(const Terms &terms, FusedOp kernel) {
    ContractOp last;
    for (Value term : terms.tensors)
      if (auto product = term.getDefiningOp<ContractOp>();
          product && product->hasOneUse() &&
          product->getBlock() == kernel->getBlock() &&
          (!last || last->isBeforeInBlock(product)))
        last = product;
    return last;
  }

  bool fuseForward(FusedOp kernel) {
    std::optional<Terms> terms = termsOfRelu(kernel);
    ContractOp product = terms ? lastProductOf(*terms, kernel) : ContractOp();
    if (!product || terms->tensors.size() > 2)
      return false;
    Value result = kernel.getResult(0);
    std::string reason = reasonAgainstEpilogue(product, kernel, result);
    if (reason.empty() && terms->row &&
        (product.getBias() ||
         !product.takesBias(cast<RankedTensorType>(terms->row.getType()))))
      reason = "two rows are added, or one that is not of the columns";
    if (reason.empty() && half && isOutput(result))
      reason = "outputs of the model stay in fp32, and so would the product";
    if (!reason.empty()) {
      reportKernel(result, reason);
      return false;
    }
    OpBuilder builder(kernel);
    Value bias = terms->row ? terms->row : product.getBias(), added;
    for (Value term : terms->tensors)
      if (term != product.getResult())
        added = term;
    auto fused = ContractReluOp::create(
        builder, builder.getFusedLoc({product.getLoc(), kernel.getLoc()}),
        product.getSpec(), product.getLhs(), product.getRhs(), bias, added,
        /*keepsMask=*/false);
    if (!isFaster(timeOf(fused), timeOf(product) + timeOf(kernel), result)) {
      fused.erase();
      return false;
    }
    setOrigins(fused, originAttrOf(result));
    result.replaceAllUsesWith(fused.getResult());
    kernel.erase();
    product.erase();
    return true;
  }

  /// Returns the mask of a ReLU, which it keeps from now on.
  static Value maskOf(ContractReluOp relu) {
    if (relu.getMask())
      return relu.getMask();
    OpBuilder builder(relu);
    auto keeping = ContractReluOp::create(
        builder, relu.getLoc(), relu.getSpec(), relu.getLhs(), relu.getRhs(),
        relu.getBias(), relu.getAdded(), /*keepsMask=*/true);
    OriginAttr origin = originAttrOf(relu.getResult());
    setOrigins(keeping, {origin, origin});
    relu.getResult().replaceAllUsesWith(keeping.getResult());
    relu.erase();
    return keeping.getMask();
  }

  //===--------------------------------------------------------------------===//
  // Its gradient
  //===--------------------------------------------------------------------===//

  /// Returns one of the terms as a product at the place of the kernel, and the
  /// op that makes it now; null if none can be one.
  static std::pair<ContractOp, Operation *> productAt(FusedOp kernel,
                                                      const Terms &terms) {
    OpBuilder builder(kernel);
    for (Value term : terms.tensors) {
      Operation *maker = term.getDefiningOp();
      if (!maker || !term.hasOneUse() ||
          maker->getBlock() != kernel->getBlock())
        continue;
      if (auto conv = dyn_cast<ConvInputGradOp>(maker);
          conv && isPointwise(conv)) {
        ArrayRef<int64_t> shape = shapeOf(conv.getWeights());
        auto type = cast<RankedTensorType>(conv.getWeights().getType())
                        .clone(shape.take_front(2));
        Value weights =
            ReshapeOp::create(builder, conv.getLoc(), type, conv.getWeights());
        return {ContractOp::create(builder, conv.getLoc(), "nhwo,oc->nhwc",
                                   conv.getGradient(), weights),
                maker};
      }
      if (auto product = dyn_cast<ContractOp>(maker);
          product && !product.getBias() && !product.getAccumulator() &&
          !product.getWide() && !product.getFull() && !product.getRowPitch())
        return {ContractOp::create(builder, product.getLoc(), product.getSpec(),
                                   product.getLhs(), product.getRhs()),
                maker};
    }
    return {};
  }

  void fuseBackward(FusedOp kernel) {
    std::optional<MaskedGradient> gradient = maskedGradientOf(kernel);
    auto relu = gradient ? gradient->relu.getDefiningOp<ContractReluOp>()
                         : ContractReluOp();
    if (!relu || relu.getResult() != gradient->relu ||
        gradient->terms.tensors.size() > 2)
      return;
    auto [product, maker] = productAt(kernel, gradient->terms);
    if (!product)
      return;
    if (!replaceBackward(kernel, relu, *gradient, product, maker))
      return eraseWithViews(product);
    eraseWithViews(product);
    kernel.erase();
    maker->erase();
  }

  /// Removes a product, and a view of its weights that nothing else reads.
  static void eraseWithViews(ContractOp product) {
    Operation *view = product.getRhs().getDefiningOp<ReshapeOp>();
    product.erase();
    if (view && view->use_empty())
      view->erase();
  }

  bool replaceBackward(FusedOp kernel, ContractReluOp relu,
                       const MaskedGradient &gradient, ContractOp product,
                       Operation *maker) {
    Value result = kernel.getResult(0), added;
    std::string reason = reasonAgainstEpilogue(product, kernel, result);
    if (!reason.empty()) {
      reportKernel(result, reason);
      return false;
    }
    for (Value term : gradient.terms.tensors)
      if (term.getDefiningOp() != maker)
        added = term;
    // The time of a mask is next to nothing, so that it is asked for only when
    // it is needed.
    double apart = timeOf(maker) + timeOf(kernel),
           together = timeOf(product) + timeOfSums(result) +
                      (added ? 1e9 * bytesTouched(added) / (half ? 2 : 1) /
                                   model.bytesPerSecond
                             : 0);
    if (!isFaster(together, apart, result))
      return false;
    Value mask = maskOf(relu);
    OpBuilder builder(kernel);
    auto fused = ContractReluGradOp::create(
        builder, builder.getFusedLoc({product.getLoc(), kernel.getLoc()}),
        product.getSpec(), product.getLhs(), product.getRhs(), mask, added);
    setOrigins(fused, originAttrOf(result));
    result.replaceAllUsesWith(fused.getResult());
    return true;
  }

  DeviceModel model;
  FloatType half; ///< Null if nothing will be in half precision.
};

} // namespace
