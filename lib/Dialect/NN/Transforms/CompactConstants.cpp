//===- CompactConstants.cpp - Stores once what constants repeat -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Constant folding turns a mask of booleans into numbers, and repeats them for
// every sample of the batch. Here such a constant becomes the smallest tensor
// that says the same, with booleans where there are only two numbers; the
// kernels that read it repeat its elements and select one of the numbers. The
// pass runs after the last folding, which would undo it, and before clusters
// are formed.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Clusters.h"
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

/// What is below takes less than a line of the arena.
static constexpr int64_t kLeastElements = 65;

/// The numbers, if there are two of them; that of the first element first.
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

/// Where a constant is written shorter.
class Compaction {
public:
  explicit Compaction(arith::ConstantOp op)
      : op(op), type(cast<RankedTensorType>(op.getType())), b(op.getLoc(), op) {
  }

  /// Whether there is a shorter form.
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
      // What is selected before it is repeated would be stored.
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

  /// The constant, repeated to `target`.
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
  DenseElementsAttr value; ///< Without what it repeats.
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

  /// Products, gathers and views read memory: it would have to be filled.
  static bool isReadInKernels(Value value) {
    return llvm::all_of(value.getUsers(), [](Operation *user) {
      return isa<BroadcastOp>(user) ? isReadInKernels(user->getResult(0))
                                    : isFusible(user) && !isa<TakeOp>(user);
    });
  }
};

} // namespace
