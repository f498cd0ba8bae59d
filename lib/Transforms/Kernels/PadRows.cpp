//===- PadRows.cpp - Rows that begin where libraries read fast ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A product in half precision runs at half the rate where rows of one of its
// matrices do not begin at multiples of 16 bytes, as those of 50,257 logits,
// and kernels take such rows element by element. Here these tensors get a row
// pitch (Support/RowPitch.h): rows begin further apart, and nobody uses what
// lies between them. Runs when precisions are chosen and before results are put
// in the place of operands, on kernels and calls that can address rows
// themselves: calls other than products, updates and outputs want dense
// tensors. All rows are padded first, and those whose pad gains nothing, by the
// estimates of their ops, are made dense again.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Buffers.h"
#include "gpuopt/Analysis/CostModel.h"
#include "gpuopt/Analysis/InPlaceResults.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_PADROWS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Returns how far apart rows of `size` elements should lie: full lines of the
/// cache if these add little, or whole vectors; `size` where rows are aligned
/// or too short for a pad.
static int64_t pitchFor(int64_t size) {
  constexpr int64_t kCacheLine = 64, kVector = 8; // halves
  constexpr int64_t kMostPad = 16;                // 1/16 of a row
  if (size % kVector == 0)
    return size;
  for (int64_t multiple : {kCacheLine, kVector})
    if (int64_t pitch = llvm::alignTo(size, multiple);
        (pitch - size) * kMostPad <= size)
      return pitch;
  return size;
}

static bool isHalfProduct(Operation *op) {
  auto product = dyn_cast_or_null<ContractOp>(op);
  return product && typeOf(product.getLhs()).getElementTypeBitWidth() == 16;
}

/// Whether a tensor could have a pitch, and a product in half precision would
/// be glad of it.
static bool isCandidate(OpResult value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || type.getRank() < 2 ||
      type.getNumElements() == 0 ||
      pitchFor(rowSizeOf(type)) == rowSizeOf(type))
    return false;
  Operation *maker = value.getOwner();
  auto product = dyn_cast<ContractOp>(maker);
  if (!isa<FusedOp>(maker) && (!product || product.getAccumulator()))
    return false;
  return isHalfProduct(maker) || llvm::any_of(readersOf(value), isHalfProduct);
}

/// Whether the makers and readers of a tensor can address its rows where they
/// lie now.
static bool canLieSo(OpResult value) {
  auto canAddress = [](Operation *op) {
    if (auto product = dyn_cast<ContractOp>(op))
      return canBeMade(product);
    return isa<FusedOp>(op) && llvm::all_of(op->getOperands(), viewOf);
  };
  return canAddress(value.getOwner()) &&
         llvm::all_of(readersOf(value), canAddress);
}

namespace {

class RowPadder {
public:
  RowPadder(Block &block, const DeviceModel &device)
      : block(block), device(device) {}

  SmallVector<OpResult> run() {
    auto places = placesInBlock();
    for (Operation &op : block)
      for (OpResult result : op.getResults())
        if (isCandidate(result)) {
          setPitch(result, pitchFor(rowSizeOf(typeOf(result))));
          padded.insert(result);
        }
    unpadIf([](OpResult value) { return !canLieSo(value); });
    keepPlaces(places);
    unpadIf([&](OpResult value) { return !pays(value); });
    keepPlaces(places); // a result and its operand may have been parted
    return padded.takeVector();
  }

private:
  static void setPitch(OpResult value, int64_t pitch) {
    RankedTensorType type = typeOf(value);
    value.setType(withRowPitch(type, pitch));
    auto product = dyn_cast<ContractOp>(value.getOwner());
    if (product && pitch == rowSizeOf(type))
      product.removeRowPitchAttr();
    else if (product)
      product.setRowPitch(pitch);
  }

  void unpad(OpResult value) {
    setPitch(value, rowSizeOf(typeOf(value)));
    padded.remove(value);
  }

  /// Makes tensors dense again, one after the other.
  template <typename Predicate>
  void unpadIf(Predicate isUnwanted) {
    for (OpResult value : llvm::to_vector(padded))
      if (isUnwanted(value))
        unpad(value);
  }

  //===--------------------------------------------------------------------===//
  // Results in place
  //===--------------------------------------------------------------------===//

  using Places = llvm::MapVector<Operation *, SmallVector<int64_t>>;

  Places placesInBlock() const {
    Places places;
    for (FusedOp op : block.getOps<FusedOp>())
      places[op] = chooseInPlace(op);
    return places;
  }

  /// A result that could be written over an operand, with both of them dense,
  /// still can be: memory of its own would be worse than slow rows.
  void keepPlaces(const Places &before) {
    for (bool isChanged = true; isChanged;) {
      isChanged = false;
      for (auto &[op, places] : before) {
        SmallVector<int64_t> now = chooseInPlace(cast<FusedOp>(op));
        for (auto [number, place] : llvm::enumerate(places))
          if (place >= 0 && now[number] < 0)
            isChanged |=
                unpadPair(op->getResult(number), op->getOperand(place));
      }
    }
  }

  bool unpadPair(OpResult result, Value operand) {
    size_t count = padded.size();
    for (Value value : {Value(result), sourceOf(operand)})
      if (auto made = dyn_cast<OpResult>(value); made && padded.contains(made))
        unpad(made);
    return padded.size() < count;
  }

  //===--------------------------------------------------------------------===//
  // Costs
  //===--------------------------------------------------------------------===//

  double timeAround(OpResult value) const {
    llvm::SmallSetVector<Operation *, 8> ops;
    ops.insert(value.getOwner());
    ops.insert_range(readersOf(value));
    double time = 0;
    for (Operation *op : ops)
      time += timeInNanoseconds(workOf(op, device), device);
    return time;
  }

  /// Measured times are not asked: they are those of tensors as they lay in the
  /// program that was measured.
  bool pays(OpResult value) const {
    int64_t pitch = rowPitchOf(typeOf(value));
    double with = timeAround(value);
    setPitch(value, rowSizeOf(typeOf(value)));
    double without = timeAround(value);
    setPitch(value, pitch);
    return with < without;
  }

  Block &block;
  const DeviceModel &device;
  llvm::SetVector<OpResult> padded;
};

class PadRows : public kernels::impl::PadRowsBase<PadRows> {
public:
  using PadRowsBase::PadRowsBase;

private:
  void runOnOperation() override {
    FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
    if (failed(model))
      return signalPassFailure();
    for (train::StepOp step : getOperation().getOps<train::StepOp>())
      for (OpResult value : kernels::padRows(step.getBody().front(), *model)) {
        ++paddedCount;
        RankedTensorType type = typeOf(value);
        remark::passed(value.getLoc(),
                       remark::RemarkOpts::name("pad").category("rows"))
            << llvm::formatv("rows of {0} elements of '{1}' begin {2} apart",
                             rowSizeOf(type), originOf(value), rowPitchOf(type))
                   .str();
      }
  }
};

} // namespace

SmallVector<OpResult> kernels::padRows(Block &block,
                                       const DeviceModel &device) {
  if (!device.hasWarps())
    return {};
  return RowPadder(block, device).run();
}
