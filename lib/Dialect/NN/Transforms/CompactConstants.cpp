//===- CompactConstants.cpp - Stores once what constants repeat -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Constant folding turns a mask of booleans into numbers, and repeats them for
// every sample of the batch. Here such a constant becomes the smallest tensor
// with the same content, and a tensor of booleans if it has only two different
// numbers; the kernels that read it repeat its elements and select one of the
// numbers. The pass runs after the last folding, which would undo it, and
// before clusters are formed.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"
#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_COMPACTCONSTANTS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// A smaller constant takes less than one line of the arena.
static constexpr int64_t kLeastElements = 65;

/// Returns the two numbers of a constant, the first element's first; nothing if
/// it has more or fewer.
static std::optional<std::pair<APFloat, APFloat>>
twoNumbersOf(DenseElementsAttr value) {
  auto numbers = value.getValues<APFloat>();
  APFloat first = *numbers.begin(), other = first;
  for (const APFloat &number : numbers) {
    if (number.bitwiseIsEqual(first) || number.bitwiseIsEqual(other))
      continue;
    if (!other.bitwiseIsEqual(first))
      return std::nullopt;
    other = number;
  }
  if (other.bitwiseIsEqual(first))
    return std::nullopt;
  return std::pair(first, other);
}

namespace {

/// Writes one constant in a shorter form.
class Compaction {
public:
  explicit Compaction(arith::ConstantOp op)
      : op(op), type(cast<RankedTensorType>(op.getType())), b(op.getLoc(), op) {
  }

  /// Whether the constant has a shorter form.
  bool decide() {
    value = withoutRepeats(cast<DenseElementsAttr>(op.getValue()));
    if (isa<FloatType>(type.getElementType()))
      numbers = twoNumbersOf(value);
    return numbers || value.getType() != type;
  }

  void rewrite() {
    stored = makeStored();
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      auto broadcast = dyn_cast<BroadcastOp>(use.getOwner());
      if (!broadcast) {
        use.set(expandedTo(type));
        continue;
      }
      // A selection before the repetition would be stored in memory, so it
      // follows.
      broadcast.replaceAllUsesWith(expandedTo(broadcast.getType()));
      broadcast.erase();
    }
    op.erase();
  }

private:
  Value makeStored() {
    if (!numbers)
      return b.create<arith::ConstantOp>(value);
    SmallVector<bool> isFirst;
    for (const APFloat &number : value.getValues<APFloat>())
      isFirst.push_back(number.bitwiseIsEqual(numbers->first));
    return b.create<arith::ConstantOp>(
        DenseElementsAttr::get(value.getType().clone(b.getI1Type()), isFirst));
  }

  /// Returns the constant, repeated to `target`.
  Value expandedTo(RankedTensorType target) {
    Value &result = expanded[target];
    if (result)
      return result;
    auto wide = target.clone(b.type(stored).getElementType());
    result = b.type(stored) == wide ? stored // made so that it does not fold
                                    : b.create<BroadcastOp>(wide, stored);
    auto splat = [&](const APFloat &number) {
      return b.create<arith::ConstantOp>(
          DenseElementsAttr::get(target, number));
    };
    if (numbers)
      result = b.create<arith::SelectOp>(result, splat(numbers->first),
                                         splat(numbers->second));
    return result;
  }

  arith::ConstantOp op;
  RankedTensorType type;
  TensorBuilder b;
  DenseElementsAttr value; ///< Without repetitions.
  std::optional<std::pair<APFloat, APFloat>> numbers;
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

  /// Whether only kernels read the value. Products, gathers and views read
  /// memory, which would have to be filled.
  static bool isReadInKernels(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<BroadcastOp>(user) ? isReadInKernels(user->getResult(0))
                                    : isFusible(user) && !isa<TakeOp>(user);
    });
  }
};

} // namespace
