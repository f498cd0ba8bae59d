//===- FuseEpilogues.cpp - GELUs as epilogues of products -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A product in half precision waits for its matrix units, so what its epilogue
// reads and writes costs no time of its own; what it computes does. Where a
// GELU is a kernel, its operands go through memory once more.
//
// Runs when kernels are formed and their operands can be read, and before types
// are chosen: the products that it makes have the types of their operands, and
// a bias gets a copy in half precision as weights do.
//
//===----------------------------------------------------------------------===//

#include "EpilogueProducts.h"
#include "GeluKernels.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// What can be an epilogue
//===----------------------------------------------------------------------===//

/// Returns what is added to a product before its GELU; null if nothing is.
static Value biasOf(GeluKernel &gelu) {
  ContractOp product = gelu.product;
  return gelu.bias ? gelu.bias : Value(product.getBias());
}

/// Whether the product of a GELU can add its bias where it stands.
static bool canAddBias(GeluKernel &gelu) {
  Operation *definition = gelu.bias ? gelu.bias.getDefiningOp() : nullptr;
  return !definition || definition->isBeforeInBlock(gelu.product);
}

namespace {

class FuseEpilogues : public kernels::WarpDevicePass<
                          kernels::impl::FuseEpiloguesBase<FuseEpilogues>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  LogicalResult readOptions() override {
    return readHalfType(getOperation(), halfType, half);
  }

  void runOn(const DeviceModel &loaded) override {
    if (hasOverrides)
      return;
    FailureOr<DeviceModel> withCosts =
        loadDeviceModel(getOperation(), device, profileCosts, allowsTf32);
    if (failed(withCosts))
      return signalPassFailure();
    model = loaded;
    // Measured times are found by types. Those of now are not those that a
    // program in half precision has.
    if (!half)
      measured = *withCosts;
    SmallVector<GeluKernel> gelus;
    getOperation().walk([&](ContractOp product) {
      if (std::optional<GeluKernel> gelu = geluOf(product))
        gelus.push_back(*gelu);
    });
    for (GeluKernel &gelu : gelus)
      fuse(gelu);
  }

  void fuse(GeluKernel &gelu) {
    ContractGeluOp forward = chooseForward(gelu);
    // One for each kernel, null where it stays.
    SmallVector<std::pair<GeluGradientKernel, ContractGeluGradOp>> backward;
    if (forward || canAddBias(gelu))
      for (FusedOp reader : gelu.readers)
        if (auto kernel = gradientOf(gelu, reader))
          if (ContractGeluGradOp op = chooseBackward(gelu, *kernel))
            backward.push_back({*kernel, op});
    if (!forward && backward.empty())
      return;
    for (auto &[kernel, op] : backward)
      replace(kernel, op);
    readSums(gelu, forward);
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  double timeOf(Operation *op) const {
    OpWork work = workInPrecision(op, half, model);
    // What the library makes of this epilogue depends on the type.
    if (auto gradient = dyn_cast<ContractGeluGradOp>(op))
      gradient.addWarpWork(work);
    return timeInNanoseconds(work, model);
  }

  /// Returns the measured time of ops, if each of them was measured.
  std::optional<double> measuredTimeOf(ArrayRef<Operation *> ops) const {
    double time = 0;
    for (Operation *op : ops) {
      if (!isMeasured(op, measured))
        return std::nullopt;
      time += timeInNanoseconds(op, measured);
    }
    return time;
  }

  /// Whether a product is faster `together` with its epilogue than with a
  /// kernel behind it. Estimates are compared with estimates, and measured
  /// times with measured ones.
  bool isFaster(Operation *together, ContractOp product, FusedOp kernel,
                Value result) {
    double atOnce = timeOf(together), apart = timeOf(product) + timeOf(kernel);
    std::optional<double> measuredAtOnce = measuredTimeOf(together),
                          measuredApart = measuredTimeOf({product, kernel});
    if (measuredAtOnce && measuredApart)
      atOnce = *measuredAtOnce, apart = *measuredApart;
    bool isEpilogue = isFasterAtOnce(result, atOnce, apart);
    epilogueCount += isEpilogue;
    return isEpilogue;
  }

  //===--------------------------------------------------------------------===//
  // The GELU
  //===--------------------------------------------------------------------===//

  /// Returns the product with its GELU, or null if they stay apart.
  ContractGeluOp chooseForward(GeluKernel &gelu) {
    ContractOp product = gelu.product;
    FusedOp kernel = gelu.kernel;
    Value result = kernel.getResult(0);
    std::string reason = reasonAgainstEpilogue(product, kernel, result);
    if (reason.empty() && !gelu.readers.empty() &&
        (hasBudget || llvm::is_contained(recomputed, originOf(result))))
      reason = "within a budget, it may be computed again without the product";
    if (reason.empty() && half && isOutput(result))
      reason = "outputs of the model stay in fp32, and so would the product";
    if (!reason.empty()) {
      reportKernel(result, reason);
      return {};
    }
    OpBuilder builder(kernel);
    auto fused = ContractGeluOp::create(
        builder, builder.getFusedLoc({product.getLoc(), kernel.getLoc()}),
        product.getSpec(), product.getLhs(), product.getRhs(), biasOf(gelu),
        /*keepsInput=*/!gelu.readers.empty());
    SmallVector<OriginAttr> origins{originAttrOf(result)};
    if (fused.getInput())
      origins.push_back(originAttrOf(product.getResult()));
    setOrigins(fused, origins);
    if (isFaster(fused, product, kernel, result))
      return fused;
    fused.erase();
    return {};
  }

  /// Lets all kernels read the GELU's input where they have added the bias, and
  /// removes what `forward` does in their place, if there is one.
  static void readSums(GeluKernel &gelu, ContractGeluOp forward) {
    ContractOp product = gelu.product;
    FusedOp kernel = gelu.kernel;
    Value sum = forward ? forward.getInput() : product.getResult();
    llvm::SmallSetVector<FusedOp, 4> readers;
    for (Operation *user : product->getUsers())
      if (auto reader = dyn_cast<FusedOp>(user))
        if (reader != kernel || !forward)
          readers.insert(reader);
    for (FusedOp reader : readers)
      readSum(reader, gelu, sum);
    if (!forward) {
      if (gelu.bias)
        product.getBiasMutable().assign(gelu.bias);
      return;
    }
    kernel.replaceAllUsesWith(ValueRange(forward.getResult()));
    kernel.erase();
    if (sum)
      product.getResult().replaceAllUsesWith(sum);
    product.erase();
  }

  //===--------------------------------------------------------------------===//
  // Its gradient
  //===--------------------------------------------------------------------===//

  /// Returns the product with the gradient of the GELU, or null if they stay
  /// apart. It still reads the product before the GELU in place of the sum.
  ContractGeluGradOp chooseBackward(GeluKernel &gelu,
                                    const GeluGradientKernel &gradient) {
    ContractOp product = gradient.product, before = gelu.product;
    FusedOp kernel = gradient.kernel;
    std::string reason =
        reasonAgainstEpilogue(product, kernel, gradient.result);
    if (reason.empty() && product.getBias())
      reason = "the product adds a bias";
    if (reason.empty() && !liesByItself(before.getResult()))
      reason = "the input of the GELU is a part of another tensor";
    if (reason.empty() && gradient.sums && half && half.isF16())
      reason = "the library would round the sums of its columns to f16";
    if (!reason.empty()) {
      reportKernel(gradient.result, reason);
      return {};
    }
    OpBuilder builder(kernel);
    auto fused = ContractGeluGradOp::create(
        builder, builder.getFusedLoc({product.getLoc(), kernel.getLoc()}),
        product.getSpec(), product.getLhs(), product.getRhs(),
        before.getResult(), /*sumsColumns=*/bool(gradient.sums));
    SmallVector<OriginAttr> origins{originAttrOf(gradient.result)};
    if (gradient.sums)
      origins.push_back(originAttrOf(gradient.sums));
    setOrigins(fused, origins);
    if (isFaster(fused, product, kernel, gradient.result))
      return fused;
    fused.erase();
    return {};
  }

  static void replace(const GeluGradientKernel &gradient,
                      ContractGeluGradOp fused) {
    OpResult result = gradient.result, sums = gradient.sums;
    FusedOp kernel = gradient.kernel;
    result.replaceAllUsesWith(fused.getResult());
    if (sums) {
      OpBuilder builder(kernel);
      sums.replaceAllUsesWith(ReshapeOp::create(builder, sums.getLoc(),
                                                sums.getType(), fused.getSums())
                                  .getResult());
      if (Operation *stage = sums.getOwner(); stage != kernel)
        stage->erase();
    }
    kernel.erase();
    ContractOp(gradient.product).erase();
  }

  DeviceModel model;    ///< The estimates alone.
  DeviceModel measured; ///< The times of --profile-costs.
  FloatType half;       ///< Null if nothing will be in half precision.
};

} // namespace
