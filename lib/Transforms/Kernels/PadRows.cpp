//===- PadRows.cpp - Rows that begin where libraries read fast ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A product in half precision or TF32 runs at half the rate, or less, where
// rows of one of its matrices do not begin at multiples of 16 bytes, as those
// of 50,257 logits, and kernels take such rows element by element. Here these
// tensors get a row pitch (Support/RowPitch.h): rows begin further apart, and
// nobody uses what lies between them. The pass runs after precisions are chosen
// and before results are put in the place of operands. Only tensors whose
// makers and readers are kernels and products can have a pitch: other calls,
// updates and outputs want dense tensors. The pass first pads all rows that
// could have one, and then makes those dense again whose pad gains nothing by
// the estimates of their ops. It tries a parameter's copy in half precision in
// the same way, by a cast of the parameter in its place.
//
//===----------------------------------------------------------------------===//

#include "WarpDevicePass.h"
#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/InPlaceResults.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorType.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_PADROWS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

static bool isHalfProduct(Operation *op) {
  auto product = dyn_cast_or_null<ContractOp>(op);
  return product && tensorType(product.getLhs()).getElementTypeBitWidth() == 16;
}

/// Whether a tensor could have a pitch, and a product on tensor cores would be
/// glad of it.
static bool isCandidate(OpResult value, const DeviceModel &device) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa<FloatType>(type.getElementType()) || type.getRank() < 2 ||
      type.getNumElements() == 0 ||
      pitchFor(rowSizeOf(type)) == rowSizeOf(type))
    return false;
  Operation *maker = value.getOwner();
  auto product = dyn_cast<ContractOp>(maker);
  if (!isa<FusedOp>(maker) && (!product || product.getAccumulator()))
    return false;
  auto wantsPitch = [&](Operation *op) {
    auto product = dyn_cast_or_null<ContractOp>(op);
    return product &&
           wantsAlignedRows(tensorType(product.getLhs()).getElementType(),
                            device);
  };
  return wantsPitch(maker) || llvm::any_of(readersOf(value), wantsPitch);
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

/// Changes how far apart the rows of a kernel's or product's result lie.
static void setRowPitch(OpResult value, int64_t pitch) {
  RankedTensorType type = tensorType(value);
  value.setType(withRowPitch(type, pitch));
  auto product = dyn_cast<ContractOp>(value.getOwner());
  if (product && pitch == rowSizeOf(type))
    product.removeRowPitchAttr();
  else if (product)
    product.setRowPitch(pitch);
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
        if (isCandidate(result, device)) {
          setRowPitch(result, pitchFor(rowSizeOf(tensorType(result))));
          padded.insert(result);
        }
    unpadIf([](OpResult value) { return !canLieSo(value); });
    keepPlaces(places);
    unpadIf([&](OpResult value) { return !pays(value); });
    keepPlaces(places); // a result and its operand may have been parted
    return padded.takeVector();
  }

private:
  void unpad(OpResult value) {
    setRowPitch(value, rowSizeOf(tensorType(value)));
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
    int64_t pitch = rowPitchOf(tensorType(value));
    double with = timeAround(value);
    setRowPitch(value, rowSizeOf(tensorType(value)));
    double without = timeAround(value);
    setRowPitch(value, pitch);
    return with < without;
  }

  Block &block;
  const DeviceModel &device;
  llvm::SetVector<OpResult> padded;
};

/// Casts parameters anew where their copies in half precision have odd rows.
/// Updates write these copies element by element as the parameter lies, so they
/// stay dense; a kernel of the step can write one with a pitch.
class CopyPadder {
public:
  /// Adds the names of copies that are read no more to `recast`.
  CopyPadder(Block &block, const DeviceModel &device, llvm::StringSet<> &recast)
      : block(block), device(device), recast(recast),
        module(block.getParentOp()->getParentOfType<ModuleOp>()) {}

  SmallVector<OpResult> run() {
    SmallVector<OpResult> padded = kernels::padRows(block, device);
    double best = timeOfBlock();
    for (train::ReadOp read : llvm::to_vector(block.getOps<train::ReadOp>())) {
      train::VariableOp copy = oddCopyReadBy(read);
      if (!copy)
        continue;
      unpad(padded);
      FusedOp cast = castAnew(read, copy);
      padded = kernels::padRows(block, device);
      double time = timeOfBlock();
      if (time < best) {
        best = time;
        recast.insert(read.getVariable());
        read.erase();
        continue;
      }
      unpad(padded);
      undo(cast, read);
      padded = kernels::padRows(block, device);
    }
    return padded;
  }

private:
  double timeOfBlock() const {
    double time = 0;
    for (Operation &op : block)
      time += timeInNanoseconds(workOf(&op, device), device);
    return time;
  }

  static void unpad(ArrayRef<OpResult> padded) {
    for (OpResult value : padded)
      setRowPitch(value, rowSizeOf(tensorType(value)));
  }

  /// Returns the variable, or null where a pitch would gain nothing.
  train::VariableOp oddCopyReadBy(train::ReadOp read) {
    auto variable = module.lookupSymbol<train::VariableOp>(read.getVariable());
    int64_t size = rowSizeOf(tensorType(read.getResult()));
    return variable && variable.getKind() == train::VariableKind::HalfCopy &&
                   pitchFor(size) != size &&
                   llvm::any_of(readersOf(read.getResult()), isHalfProduct)
               ? variable
               : train::VariableOp();
  }

  FusedOp castAnew(train::ReadOp read, train::VariableOp copy) {
    auto parameter = module.lookupSymbol<train::VariableOp>(copy.getOfAttr());
    OpBuilder builder(read);
    Location loc = read.getLoc();
    auto master = train::ReadOp::create(builder, loc, parameter.getType(),
                                        parameter.getSymName());
    auto cast = FusedOp::create(builder, loc, TypeRange(read.getType()), "cast",
                                master.getResult());
    setOrigins(cast, originAttrOf(read.getResult()));
    Block &body = cast.getBody().emplaceBlock();
    Value argument = body.addArgument(master.getType(), loc);
    OpBuilder inside = OpBuilder::atBlockEnd(&body);
    Value rounded =
        arith::TruncFOp::create(inside, loc, read.getType(), argument);
    YieldOp::create(inside, loc, rounded);
    read.replaceAllUsesWith(cast.getResult(0));
    return cast;
  }

  static void undo(FusedOp cast, train::ReadOp read) {
    cast.getResult(0).replaceAllUsesWith(read.getResult());
    Operation *master = cast.getInputs()[0].getDefiningOp();
    cast.erase();
    master->erase();
  }

  Block &block;
  const DeviceModel &device;
  llvm::StringSet<> &recast;
  ModuleOp module;
};

class PadRows
    : public kernels::WarpDevicePass<kernels::impl::PadRowsBase<PadRows>> {
public:
  using WarpDevicePass::WarpDevicePass;

private:
  bool multipliesInTf32() const override { return allowsTf32; }

  void runOn(const DeviceModel &device) override {
    llvm::StringSet<> recast;
    for (train::StepOp step : getOperation().getOps<train::StepOp>())
      for (OpResult value :
           CopyPadder(step.getBody().front(), device, recast).run()) {
        ++paddedCount;
        RankedTensorType type = tensorType(value);
        remark::passed(value.getLoc(),
                       remark::RemarkOpts::name("pad").category("rows"))
            << llvm::formatv("rows of {0} elements of '{1}' begin {2} apart",
                             rowSizeOf(type), originOf(value), rowPitchOf(type))
                   .str();
      }
    eraseUnread(recast);
  }

  /// Erases those of the copies that no step reads any more, and what keeps
  /// them.
  void eraseUnread(llvm::StringSet<> &copies) {
    getOperation().walk(
        [&](train::ReadOp op) { copies.erase(op.getVariable()); });
    for (auto variable :
         llvm::to_vector(getOperation().getOps<train::VariableOp>()))
      if (copies.contains(variable.getSymName())) {
        eraseUsesOf(variable.getSymName());
        variable.erase();
      }
  }

  void eraseUsesOf(StringRef copy) {
    for (auto step : llvm::to_vector(getOperation().getOps<train::StepOp>())) {
      Block &block = step.getBody().front();
      bool isErased = false;
      for (Operation &op : llvm::make_early_inc_range(block)) {
        auto update = dyn_cast<train::UpdateOp>(op);
        auto refresh = dyn_cast<train::RefreshOp>(op);
        if (update && update.getCopy() == copy)
          update.removeCopyAttr();
        isErased |= refresh && refresh.getCopy() == copy;
        if (refresh && refresh.getCopy() == copy)
          refresh.erase();
      }
      if (isErased && block.empty())
        step.erase();
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
