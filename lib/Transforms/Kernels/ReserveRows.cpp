//===- ReserveRows.cpp - Spare rows that make extents even ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A product in half precision over 50,257 words is fast for 50,256 of them, and
// the last one is a call by itself. Where rows of the logits have pads
// (PadRows.cpp), a product can go on through these instead, if the other
// matrices have as many spare rows: of zeros in the weight's copy in half
// precision, which is added up beside the pads of the logits' gradient, and of
// anything in the weight's gradient, where nobody reads them.
//
// Zeros come from the copy alone. Memory is zero when a program starts, and
// what renews a copy writes its elements and no more. So the product that makes
// the logits fills their pads with zeros, and the kernel that writes the
// gradient over the logits leaves them. That is why the pass runs when it is
// known what is written over what, and before any tensor has its place. Where a
// condition does not hold, calls for odd ends stay.
//
//===----------------------------------------------------------------------===//

#include "WarpDevicePass.h"
#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_RESERVEROWS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns the calls for odd ends that a product makes.
static int64_t endCallsOf(ContractOp product) {
  if (tensorType(product.getLhs()).getElementTypeBitWidth() != 16)
    return 0;
  std::optional<ProductCalls> calls = productCallsOf(product);
  return calls ? calls->endCalls : 0;
}

template <typename Products>
static int64_t endCallsOfAll(Products &&products) {
  int64_t count = 0;
  for (ContractOp product : products)
    count += endCallsOf(product);
  return count;
}

static std::string savingOf(int64_t calls) {
  return calls == 1 ? "save a call for an odd end"
                    : llvm::formatv("save {0} calls for odd ends", calls).str();
}

/// Returns how far a dimension of one of the product's tensors goes on behind
/// its last element.
static int64_t padAlong(ContractOp product, char letter) {
  std::pair<Value, StringRef> tensors[] = {
      {product.getLhs(), product.getLhsLetters()},
      {product.getRhs(), product.getRhsLetters()},
      {product.getResult(), product.getResultLetters()}};
  int64_t pad = 0;
  for (auto [value, letters] : tensors)
    if (size_t dim = letters.find(letter); dim != StringRef::npos)
      pad = std::max(pad, extentsInMemory(tensorType(value))[dim] -
                              tensorType(value).getDimSize(dim));
  return pad;
}

/// Gives the one result of a call the type that follows from the operands.
static void updateType(InferTypeOpInterface call) {
  SmallVector<Type> types;
  if (succeeded(call.inferReturnTypes(
          call.getContext(), call.getLoc(), call->getOperands(),
          call->getDiscardableAttrDictionary(), call->getPropertiesStorage(),
          call->getRegions(), types)))
    call->getResult(0).setType(types.front());
}

/// A result that is written over an operand with pads of zeros has these, too.
static void updateTypes(FusedOp kernel) {
  for (OpResult result : kernel.getResults()) {
    Value operand = kernel.getOverwritten(result.getResultNumber());
    if (!operand)
      continue;
    Pads pads = padsOf(tensorType(result));
    pads.areZeros = true;
    pads.areZeros = operand.getType() == withPads(tensorType(result), pads);
    result.setType(withPads(tensorType(result), pads));
  }
}

namespace {

//===----------------------------------------------------------------------===//
// Copies in half precision
//===----------------------------------------------------------------------===//

/// Gives copies spare rows of zeros, and says in the types of what is computed
/// from them which pads are zero.
class CopyReserver {
public:
  explicit CopyReserver(ModuleOp module) : module(module) {}

  /// Returns how many copies have spare rows now.
  int64_t run() {
    int64_t count = 0;
    for (auto copy : module.getOps<train::VariableOp>())
      if (copy.canHaveSpareRows())
        count += reserve(copy);
    return count;
  }

private:
  bool reserve(train::VariableOp copy) {
    auto type = cast<RankedTensorType>(copy.getType());
    int64_t rows = type.getRank() == 2 && !type.getEncoding() &&
                           llvm::all_of(readsOf(copy), canHaveRows)
                       ? padBesideReadsOf(copy)
                       : 0;
    if (rows == 0 || rows > type.getDimSize(0))
      return false;
    int64_t before = endCalls();
    setSpareRows(copy, rows);
    int64_t saved = before - endCalls();
    if (saved <= 0) {
      setSpareRows(copy, 0);
      return false;
    }
    remark::passed(copy.getLoc(),
                   remark::RemarkOpts::name("reserve").category("rows"))
        << llvm::formatv("'{0}' has {1} spare rows of zeros, which {2}",
                         copy.getSymName(), rows, savingOf(saved))
               .str();
    return true;
  }

  SmallVector<train::ReadOp> readsOf(train::VariableOp copy) {
    SmallVector<train::ReadOp> reads;
    module.walk([&](train::ReadOp read) {
      if (read.getVariable() == copy.getSymName())
        reads.push_back(read);
    });
    return reads;
  }

  /// Other ops might expect the type of the parameter.
  static bool canHaveRows(train::ReadOp read) {
    return llvm::all_of(read->getUsers(), llvm::IsaPred<ContractOp, FusedOp>);
  }

  int64_t padBesideReadsOf(train::VariableOp copy) {
    int64_t pad = 0;
    for (train::ReadOp read : readsOf(copy))
      for (OpOperand &use : read->getUses())
        if (auto product = dyn_cast<ContractOp>(use.getOwner());
            product && use.getOperandNumber() < 2) {
          StringRef letters = use.getOperandNumber() == 0
                                  ? product.getLhsLetters()
                                  : product.getRhsLetters();
          pad = std::max(pad, padAlong(product, letters.front()));
        }
    return pad;
  }

  void setSpareRows(train::VariableOp copy, int64_t rows) {
    Pads pads;
    pads.spareRows = rows;
    pads.areZeros = true;
    RankedTensorType type =
        withPads(cast<RankedTensorType>(copy.getType()), pads);
    copy.setType(type);
    for (train::ReadOp read : readsOf(copy))
      read.getResult().setType(type);
    for (auto step : module.getOps<train::StepOp>())
      for (Operation &op : step.getBody().front())
        if (auto product = dyn_cast<ContractOp>(op))
          updateType(product);
        else if (auto kernel = dyn_cast<FusedOp>(op))
          updateTypes(kernel);
  }

  int64_t endCalls() {
    int64_t count = 0;
    for (auto step : module.getOps<train::StepOp>())
      count += endCallsOfAll(step.getBody().front().getOps<ContractOp>());
    return count;
  }

  ModuleOp module;
};

} // namespace

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

namespace {

/// Products that add to each other's results, and calls that add to these last.
struct ProductSum {
  SmallVector<ContractOp> products;
  SmallVector<Operation *> others;

  /// Finds what follows the product that begins with nothing.
  explicit ProductSum(ContractOp first) {
    for (Operation *op = first; op; op = next(op->getResult(0)))
      if (auto product = dyn_cast<ContractOp>(op))
        products.push_back(product);
      else
        others.push_back(op);
  }

  Value total() {
    return others.empty() ? Value(products.back().getResult())
                          : others.back()->getResult(0);
  }

  void setSpareRows(int64_t rows) {
    for (ContractOp product : products) {
      if (rows)
        product.setSpareRows(rows);
      else
        product.removeSpareRowsAttr();
      updateType(product);
    }
    for (Operation *other : others)
      updateType(cast<InferTypeOpInterface>(other));
  }

private:
  /// Returns the one call that adds to `sum`, or null.
  static Operation *next(Value sum) {
    Operation *reader = sum.hasOneUse() ? *sum.getUsers().begin() : nullptr;
    bool adds = isa_and_nonnull<RuntimeCallOpInterface>(reader) &&
                reader->getNumResults() == 1 &&
                operandInPlace(reader->getResult(0)) == sum;
    return adds ? reader : nullptr;
  }
};

} // namespace

/// Whether a matrix has memory of its own that can be larger: nobody asks its
/// type for more than a shape.
static bool canHaveRows(ProductSum &sum) {
  ContractOp first = sum.products.front();
  RankedTensorType type = first.getType();
  return type.getRank() == 2 && !type.getEncoding() &&
         !first.getAccumulator() && !first.getBias() &&
         destinationOf(first.getResult()).buffer == first.getResult() &&
         llvm::all_of(readersOf(sum.total()),
                      llvm::IsaPred<FusedOp, train::UpdateOp, train::GradNormOp,
                                    train::AccumulateOp>);
}

/// Gives a sum of products room for rows that nobody reads.
static bool reserve(ProductSum sum) {
  int64_t before = endCallsOfAll(sum.products);
  if (!canHaveRows(sum) || before == 0)
    return false;
  ContractOp first = sum.products.front();
  int64_t rows = padAlong(first, first.getResultLetters().front());
  if (rows == 0 || rows > first.getType().getDimSize(0))
    return false;
  sum.setSpareRows(rows);
  int64_t saved = before - endCallsOfAll(sum.products);
  if (saved <= 0) {
    sum.setSpareRows(0);
    return false;
  }
  remark::passed(first.getLoc(),
                 remark::RemarkOpts::name("reserve").category("rows"))
      << llvm::formatv("'{0}' has {1} spare rows, which {2}",
                       originOf(sum.total()), rows, savingOf(saved))
             .str();
  return true;
}

namespace {

class ReserveRows : public kernels::WarpDevicePass<
                        kernels::impl::ReserveRowsBase<ReserveRows>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  void runOn(const DeviceModel &) override {
    reservedCount += CopyReserver(getOperation()).run();
    for (auto step : getOperation().getOps<train::StepOp>())
      for (auto product : step.getBody().front().getOps<ContractOp>())
        if (!product.getAccumulator())
          reservedCount += reserve(ProductSum(product));
  }
};

} // namespace
