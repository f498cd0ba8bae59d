//===- EpilogueProducts.cpp - Products that take an epilogue --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EpilogueProducts.h"

#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Whether nothing between two ops of a block changes state that the first one
/// may read.
static bool isStateUnchanged(Operation *first, Operation *last) {
  for (Operation *op = first; op != last; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<train::ReadOp>(op))
      return false;
  return true;
}

bool gpuopt::liesByItself(Value result) {
  StridedView destination = destinationOf(result);
  return destination.buffer == result && destination.isDense();
}

static std::optional<ProductLayout> layoutOf(ContractOp product) {
  std::optional<CallLayouts> layouts = layoutsOf(product);
  return layouts ? productLayoutOf(product, *layouts) : std::nullopt;
}

/// Whether the last dimension of a product's result is all of its columns.
static bool endsWithColumns(ContractOp product, const ProductLayout &layout) {
  RankedTensorType type = product.getType();
  return type.getRank() > 0 && type.getShape().back() == layout.n &&
         !product.getLhsLetters().contains(product.getResultLetters().back());
}

std::string gpuopt::reasonAgainstEpilogue(ContractOp product, FusedOp kernel,
                                          Value result) {
  if (product.getAccumulator() || product.getResultElementType() ||
      product.getRowPitch())
    return "the product is added to another one, or its rows have a pitch";
  if (product.getWide() || product.getFull())
    return "the product keeps the precision of its operands or its result";
  if (product.getBias() && product.getBias().getType().getRank() != 1)
    return "the bias is not one row";
  if (!product.getType().getElementType().isF32())
    return "the library has no epilogues in f64";
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

static remark::RemarkOpts remarkOptions() {
  return remark::RemarkOpts::name("fuse").category("epilogues");
}

void gpuopt::reportKernel(Value result, const std::string &reason) {
  remark::missed(result.getLoc(), remarkOptions())
      << llvm::formatv("a kernel makes '{0}': {1}", originOf(result), reason)
             .str();
}

bool gpuopt::isFasterAtOnce(Value result, double atOnce, double apart) {
  if (atOnce > apart) {
    reportKernel(
        result,
        llvm::formatv("together they take {0:f1} us, and apart {1:f1} us",
                      atOnce / 1e3, apart / 1e3)
            .str());
    return false;
  }
  remark::passed(result.getLoc(), remarkOptions())
      << llvm::formatv("the epilogue of a product makes '{0}': {1:f1} us "
                       "instead of {2:f1} us",
                       originOf(result), atOnce / 1e3, apart / 1e3)
             .str();
  return true;
}

bool gpuopt::isOutput(Value result) {
  return llvm::any_of(result.getUsers(), [](Operation *user) {
    return isa<train::OutputOp>(user) ||
           (isViewOp(user) && llvm::any_of(user->getResults(), isOutput));
  });
}

LogicalResult gpuopt::readHalfType(Operation *op, StringRef text,
                                   FloatType &type) {
  if (text == "f16")
    type = Float16Type::get(op->getContext());
  else if (text == "bf16")
    type = BFloat16Type::get(op->getContext());
  else if (!text.empty())
    return op->emitError("expects a half-type of f16 or bf16, but got '")
           << text << "'";
  return success();
}

OpWork gpuopt::workInPrecision(Operation *op, FloatType half,
                               const DeviceModel &device) {
  OpWork work = workOf(op, device);
  if (half) {
    work = withBytes(work, work.bytesRead / 2, work.bytesWritten / 2);
    work.elementType = half;
  }
  return work;
}

double gpuopt::timeInPrecision(Operation *op, FloatType half,
                               const DeviceModel &device) {
  return timeInNanoseconds(workInPrecision(op, half, device), device);
}
