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

#include "GeluKernels.h"
#include "WarpDevicePass.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

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

/// Whether nothing between two ops of a block changes state that the first one
/// may read.
static bool isStateUnchanged(Operation *first, Operation *last) {
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<train::ReadOp>(op))
      return false;
  return true;
}

/// Whether a result lies in dense memory of its own.
static bool liesByItself(Value result) {
  StridedView destination = destinationOf(result);
  return destination.buffer == result && destination.isDense();
}

static std::optional<ProductLayout> layoutOf(ContractOp product) {
  std::optional<CallLayouts> layouts = layoutsOf(product);
  return layouts ? productLayout(ProductSpec::parse(product.getSpec()),
                                 layouts->operands[0], layouts->operands[1],
                                 layouts->results[0])
                 : std::nullopt;
}

/// Whether the last dimension of a product's result is all of its columns.
static bool endsWithColumns(ContractOp product, const ProductLayout &layout) {
  RankedTensorType type = product.getType();
  return type.getRank() > 0 && type.getShape().back() == layout.n &&
         !product.getLhsLetters().contains(product.getResultLetters().back());
}

/// Returns why the library cannot make `result`, which `kernel` makes of a
/// product, in the product's epilogue, or would be slow; empty if it can.
static std::string reasonAgainst(ContractOp product, FusedOp kernel,
                                 Value result) {
  if (product.getAccumulator() || product.getResultElementType() ||
      product.getRowPitch())
    return "the product is added to another one, or its rows have a pitch";
  if (product.getBias() && product.getBias().getType().getRank() != 1)
    return "the bias is not one row";
  if (!product.getType().getElementType().isF32())
    return "the library has no GELU in f64";
  std::optional<ProductLayout> layout = layoutOf(product);
  if (!layout || layout->batch[0] * layout->batch[1] != 1)
    return "the product is several matrices";
  if (layout->c[3] != 1 || layout->c[2] != layout->n ||
      !endsWithColumns(product, *layout) ||
      !liesByItself(product.getResult()) || !liesByItself(result))
    return "the result does not lie in rows, one behind the other";
  for (int64_t extent : {layout->n, layout->k})
    if (extent % kEvenElements != 0)
      return llvm::formatv("an extent of {0} is no multiple of {1}", extent,
                           kEvenElements)
          .str();
  if (!productCallsOf(product)->hasAlignedRows)
    return llvm::formatv("the rows of an operand do not begin at multiples of "
                         "{0} elements",
                         kEvenElements)
        .str();
  if (!isStateUnchanged(product, kernel))
    return "state changes between the two";
  return "";
}

/// Returns what is added to a product before its GELU; null if nothing is.
static Value biasOf(GeluKernel &gelu) {
  ContractOp product = gelu.product;
  return gelu.bias ? gelu.bias : Value(product.getBias());
}

/// Whether a result, or a view of it, is an output of the model.
static bool isOutput(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    return isa<train::OutputOp>(user) ||
           (isViewOp(user) && llvm::any_of(user->getResults(), isOutput));
  });
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
    if (halfType == "f16")
      half = Float16Type::get(&getContext());
    else if (halfType == "bf16")
      half = BFloat16Type::get(&getContext());
    else if (!halfType.empty())
      return getOperation().emitError("expects a half-type of f16 or bf16, but "
                                      "got '")
             << halfType << "'";
    return success();
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

  /// Returns the time that an op will take. Its operands and results are f32
  /// now, and in half precision later, if anything is.
  double timeOf(Operation *op) const {
    OpWork work = workOf(op, model);
    if (half) {
      work = withBytes(work, work.bytesRead / 2, work.bytesWritten / 2);
      work.elementType = half;
    }
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
    if (atOnce > apart) {
      report(result,
             llvm::formatv("together they take {0:f1} us, and apart {1:f1} us",
                           atOnce / 1e3, apart / 1e3)
                 .str());
      return false;
    }
    remark::passed(kernel.getLoc(), options())
        << llvm::formatv("the epilogue of a product makes '{0}': {1:f1} us "
                         "instead of {2:f1} us",
                         originOf(result), atOnce / 1e3, apart / 1e3)
               .str();
    ++epilogueCount;
    return true;
  }

  void report(Value result, const std::string &reason) {
    remark::missed(result.getLoc(), options())
        << llvm::formatv("a kernel makes '{0}': {1}", originOf(result), reason)
               .str();
  }

  static remark::RemarkOpts options() {
    return remark::RemarkOpts::name("fuse").category("epilogues");
  }

  //===--------------------------------------------------------------------===//
  // The GELU
  //===--------------------------------------------------------------------===//

  /// Returns the product with its GELU, or null if they stay apart.
  ContractGeluOp chooseForward(GeluKernel &gelu) {
    ContractOp product = gelu.product;
    FusedOp kernel = gelu.kernel;
    Value result = kernel.getResult(0);
    std::string reason = reasonAgainst(product, kernel, result);
    if (reason.empty() && hasBudget && !gelu.readers.empty())
      reason = "within a budget, it may be computed again without the product";
    if (reason.empty() && half && isOutput(result))
      reason = "outputs of the model stay in fp32, and so would the product";
    if (!reason.empty()) {
      report(result, reason);
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
    std::string reason = reasonAgainst(product, kernel, gradient.result);
    if (reason.empty() && product.getBias())
      reason = "the product adds a bias";
    if (reason.empty() && !liesByItself(before.getResult()))
      reason = "the input of the GELU is a part of another tensor";
    if (reason.empty() && gradient.sums && half && half.isF16())
      reason = "the library would round the sums of its columns to f16";
    if (!reason.empty()) {
      report(gradient.result, reason);
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
