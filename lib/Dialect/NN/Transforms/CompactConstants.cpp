//===- CompactConstants.cpp - Stores once what constants repeat -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Folding makes masks numbers, and one for every sample of the batch. Here they
// become the smallest tensor that says the same, of booleans where there are
// two numbers alone; the kernels that read them repeat and select. Runs after
// the last folding, which would undo it, and before clusters are formed.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Clusters.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_COMPACTCONSTANTS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// What is below takes less than a line of the arena.
static constexpr int64_t kLeastElements = 65;

namespace {

/// A constant's elements by their bits, dimension for dimension.
struct Elements {
  SmallVector<int64_t> shape;
  std::vector<uint64_t> bits;

  static Elements of(DenseElementsAttr value) {
    auto type = cast<RankedTensorType>(value.getType());
    Elements elements{llvm::to_vector(type.getShape()), {}};
    elements.bits.reserve(type.getNumElements());
    if (isa<FloatType>(type.getElementType()))
      for (const APFloat &number : value.getValues<APFloat>())
        elements.bits.push_back(number.bitcastToAPInt().getZExtValue());
    else
      for (const APInt &number : value.getValues<APInt>())
        elements.bits.push_back(number.getZExtValue());
    return elements;
  }

  /// Gives dimensions whose entries are all the same the size 1.
  void dropRepetition() {
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] > 1 && repeats(dim))
        keepFirst(dim);
  }

  /// The numbers, if there are two of them; that of the first element first.
  std::optional<std::pair<uint64_t, uint64_t>> twoNumbers() const {
    auto other =
        llvm::find_if(bits, [&](uint64_t bit) { return bit != bits.front(); });
    if (other == bits.end() || !llvm::all_of(bits, [&](uint64_t bit) {
          return bit == bits.front() || bit == *other;
        }))
      return std::nullopt;
    return std::pair(bits.front(), *other);
  }

private:
  int64_t sizeBehind(unsigned dim) const {
    int64_t size = 1;
    for (int64_t behind : ArrayRef(shape).drop_front(dim + 1))
      size *= behind;
    return size;
  }
  bool repeats(unsigned dim) const {
    int64_t row = sizeBehind(dim), slab = row * shape[dim];
    for (size_t first = 0; first < bits.size(); first += slab)
      for (int64_t i = row; i < slab; ++i)
        if (bits[first + i] != bits[first + i - row])
          return false;
    return true;
  }
  void keepFirst(unsigned dim) {
    int64_t row = sizeBehind(dim), slab = row * shape[dim];
    std::vector<uint64_t> kept;
    for (size_t first = 0; first < bits.size(); first += slab)
      kept.insert(kept.end(), bits.begin() + first, bits.begin() + first + row);
    bits = std::move(kept);
    shape[dim] = 1;
  }
};

/// Where a constant is written shorter.
class Compaction {
public:
  explicit Compaction(arith::ConstantOp op)
      : op(op), type(cast<RankedTensorType>(op.getType())), b(op.getLoc(), op) {
  }

  /// Whether there is a shorter form.
  bool decide() {
    elements = Elements::of(cast<DenseElementsAttr>(op.getValue()));
    elements.dropRepetition();
    if (isa<FloatType>(type.getElementType()))
      numbers = elements.twoNumbers();
    return numbers || ArrayRef(elements.shape) != type.getShape();
  }

  void rewrite() {
    stored = makeStored();
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      auto broadcast = dyn_cast<BroadcastOp>(use.getOwner());
      if (!broadcast) {
        use.set(expandedTo(type));
        continue;
      }
      // What is selected before it is repeated would be stored.
      broadcast.replaceAllUsesWith(expandedTo(broadcast.getType()));
      broadcast.erase();
    }
    op.erase();
  }

private:
  Value makeStored() {
    Type element = type.getElementType();
    if (numbers) {
      SmallVector<bool> isFirst;
      for (uint64_t bit : elements.bits)
        isFirst.push_back(bit == numbers->first);
      return b.create<arith::ConstantOp>(DenseElementsAttr::get(
          RankedTensorType::get(elements.shape, b.getI1Type()), isFirst));
    }
    SmallVector<Attribute> kept;
    for (uint64_t bit : elements.bits)
      kept.push_back(numberOf(bit));
    return b.create<arith::ConstantOp>(DenseElementsAttr::get(
        RankedTensorType::get(elements.shape, element), kept));
  }

  /// The number as an attribute of the constant's element type.
  Attribute numberOf(uint64_t bits) {
    Type element = type.getElementType();
    APInt number(element.getIntOrFloatBitWidth(), bits);
    if (auto floatType = dyn_cast<FloatType>(element))
      return b.getFloatAttr(element,
                            APFloat(floatType.getFloatSemantics(), number));
    return b.getIntegerAttr(element, number);
  }

  /// The constant, repeated to `target`.
  Value expandedTo(RankedTensorType target) {
    Value &value = expanded[target];
    if (value)
      return value;
    auto wide = target.clone(b.type(stored).getElementType());
    value = b.type(stored) == wide ? stored // made so that it does not fold
                                   : b.create<BroadcastOp>(wide, stored);
    auto splat = [&](uint64_t bits) {
      return b.create<arith::ConstantOp>(
          DenseElementsAttr::get(target, numberOf(bits)));
    };
    if (numbers)
      value = b.create<arith::SelectOp>(value, splat(numbers->first),
                                        splat(numbers->second));
    return value;
  }

  arith::ConstantOp op;
  RankedTensorType type;
  TensorBuilder b;
  Elements elements;
  std::optional<std::pair<uint64_t, uint64_t>> numbers;
  Value stored;
  llvm::DenseMap<Type, Value> expanded;
};

class CompactConstants
    : public nn::impl::CompactConstantsBase<CompactConstants> {
  void runOnOperation() override {
    SmallVector<arith::ConstantOp> constants;
    getOperation()->walk([&](arith::ConstantOp op) {
      if (isLarge(op) && isReadInKernels(op))
        constants.push_back(op);
    });
    for (arith::ConstantOp op : constants)
      if (Compaction compaction(op); compaction.decide()) {
        compaction.rewrite();
        ++constantCount;
      }
  }

  static bool isLarge(arith::ConstantOp op) {
    auto value = dyn_cast<DenseElementsAttr>(op.getValue());
    return value && !value.isSplat() &&
           isa<RankedTensorType>(value.getType()) &&
           value.getNumElements() >= kLeastElements;
  }

  /// Products, gathers and views read memory: it would have to be filled.
  static bool isReadInKernels(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<BroadcastOp>(user) ? isReadInKernels(user->getResult(0))
                                    : isFusible(user) && !isa<TakeOp>(user);
    });
  }
};

} // namespace
