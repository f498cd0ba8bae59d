//===- SumOperands.cpp - Sums of operands as epilogues of products --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The gradient of a weight is a product with the gradient of what the weight
// has made, and the gradient of the bias is the sum of the columns of the same
// tensor. Where a kernel makes that tensor, it adds the columns up as well
// (kernels-merge-column-sums). A tensor that the library makes would be read
// again for them. Here the product takes the sums over: the library's epilogue
// adds up an operand while it is multiplied.
//
// The sums have the type of the product's result. So this is for products of
// halves whose result is f32: others would round a sum of many terms to a half.
// Runs when types are chosen, and assumes that no kernel can take the sums.
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"
#include "EpilogueProducts.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_SUMOPERANDS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether a kernel adds up the columns of its only operand, as they are.
static bool sumsOperand(FusedOp kernel) {
  if (kernel.getInputs().size() != 1 || kernel.getNumResults() != 1 ||
      !sumsColumns(kernel))
    return false;
  Value summed = firstReduction(kernel).getInput();
  if (auto wide = summed.getDefiningOp<arith::ExtFOp>())
    summed = wide.getIn();
  return isa<BlockArgument>(summed);
}

/// Whether the library can add up the left operand of a product: one matrix of
/// halves whose result is f32.
static bool canSumLhs(ContractOp product) {
  if (product.getAccumulator() || product.getBias() || product.getRowPitch() ||
      !product.getType().getElementType().isF32() ||
      product.getLhs().getType().getElementTypeBitWidth() != 16)
    return false;
  StringRef letters = product.getLhsLetters(),
            result = product.getResultLetters();
  auto isKept = [&](char letter) { return result.contains(letter); };
  if (letters.empty() || !isKept(letters.back()) ||
      llvm::any_of(letters.drop_back(), isKept))
    return false;
  std::optional<ProductCalls> calls = productCallsOf(product);
  return calls && calls->calls == 1 && calls->batch == 1 &&
         calls->hasAlignedRows && calls->endCalls == 0;
}

namespace {

class SumOperands : public kernels::WarpDevicePass<
                        kernels::impl::SumOperandsBase<SumOperands>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &loaded) override {
    model = loaded;
    SmallVector<FusedOp> kernels;
    getOperation().walk([&](FusedOp kernel) {
      if (sumsOperand(kernel))
        kernels.push_back(kernel);
    });
    llvm::DenseSet<Operation *> erased;
    for (FusedOp kernel : kernels) {
      if (erased.contains(kernel))
        continue;
      std::optional<ColumnSums> sums = columnSumsOf(kernel);
      if (sums && moveIntoProduct(*sums))
        erased.insert_range(sums->lastStages);
    }
  }

  /// Returns the first product that could add up the tensor, if its operands
  /// exist before the sums are read.
  static ContractOp productOf(Value tensor, OpResult whole) {
    for (Operation &op : *whole.getOwner()->getBlock()) {
      auto product = dyn_cast<ContractOp>(op);
      if (product && product.getLhs() == tensor && canSumLhs(product))
        return llvm::all_of(whole.getUsers(),
                            [&](Operation *user) {
                              return product->isBeforeInBlock(user);
                            })
                   ? product
                   : ContractOp();
    }
    return {};
  }

  /// Returns whether the kernels of the sums are gone.
  bool moveIntoProduct(ColumnSums &sums) {
    Value tensor = sums.kernel.getInputs()[0];
    OpResult whole = sums.whole[0];
    ContractOp product = productOf(tensor, whole);
    if (!product || !viewOf(tensor)->isDense() ||
        !getElementTypeOrSelf(whole.getType()).isF32())
      return false;
    OpBuilder builder(product);
    Location loc = builder.getFusedLoc({product.getLoc(), whole.getLoc()});
    auto both = ContractSumsOp::create(builder, loc, product.getSpec(),
                                       product.getLhs(), product.getRhs());
    if (!layoutsOf(both) || !both.supportsLayouts(*layoutsOf(both)) ||
        !isFasterAtOnce(whole, timeInNanoseconds(both, model),
                        timeApart(product, sums))) {
      both.erase();
      return false;
    }
    setOrigins(both,
               {originAttrOf(product->getResult(0)), originAttrOf(whole)});
    Value sum =
        ReshapeOp::create(builder, loc, whole.getType(), both.getSums());
    product.getResult().replaceAllUsesWith(both.getResult());
    whole.replaceAllUsesWith(sum);
    for (Operation *stage : sums.lastStages)
      stage->erase();
    sums.kernel.erase();
    product.erase();
    ++sumCount;
    return true;
  }

  double timeApart(ContractOp product, const ColumnSums &sums) const {
    double time = timeInNanoseconds(product, model) +
                  timeInNanoseconds(sums.kernel, model);
    for (Operation *stage : sums.lastStages)
      time += timeInNanoseconds(stage, model);
    return time;
  }

  DeviceModel model;
};

} // namespace
