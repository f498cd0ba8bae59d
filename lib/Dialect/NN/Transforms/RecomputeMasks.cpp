//===- RecomputeMasks.cpp - Masks of ReLUs from what is read anyway -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The backward of a ReLU asks where its result is above zero, which is where
// its operand is. Behind a batch norm the result lies in memory, since the next
// convolution reads it, and the operand does not. But the backward of the batch
// norm reads the tensor from which the operand is computed, so that the mask
// costs a few instructions, and no read of its own.
//
// A mask is changed only if one tensor alone, besides what is repeated along
// the pixels, makes the operand, and if that tensor is read later in any case:
// otherwise it would have to be kept for the mask.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOMPUTEMASKS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// The most ops between the tensor and the mask. A batch norm has five.
static constexpr size_t kMostOps = 12;

/// Returns the operand of max(operand, 0), or null for other values.
static Value operandOfRelu(Value value) {
  auto maximum = value.getDefiningOp<arith::MaximumFOp>();
  if (!maximum)
    return {};
  for (auto [operand, other] : {std::pair(maximum.getLhs(), maximum.getRhs()),
                                std::pair(maximum.getRhs(), maximum.getLhs())})
    if (matchPattern(other, m_AnyZeroFloat()))
      return operand;
  return {};
}

static bool isElementwise(Operation *op) {
  return op && OpTrait::hasElementwiseMappableTraits(op) &&
         op->getNumResults() == 1;
}

namespace {

/// The ops that a value is computed from: elementwise work on tensors in
/// memory.
struct Origin {
  llvm::SetVector<Value> tensors;
  llvm::SetVector<Value> computed; ///< The value itself is the first.
};

class RecomputeMasks
    : public gpuopt::nn::impl::RecomputeMasksBase<RecomputeMasks> {
  void runOnOperation() override {
    getOperation()->walk([&](arith::CmpFOp mask) {
      if (mask.getPredicate() != arith::CmpFPredicate::OGT ||
          !matchPattern(mask.getRhs(), m_AnyZeroFloat()))
        return;
      Value operand = operandOfRelu(mask.getLhs());
      if (operand && isReadLater(originOf(operand), mask)) {
        mask.getLhsMutable().assign(operand);
        ++maskCount;
      }
    });
  }

  static Origin originOf(Value value) {
    Origin origin;
    SmallVector<Value> open{value};
    while (!open.empty() && origin.computed.size() <= kMostOps) {
      Value next = open.pop_back_val();
      Operation *op = next.getDefiningOp();
      if (isa_and_nonnull<BroadcastOp, arith::ConstantOp>(op))
        continue;
      if (!isElementwise(op))
        origin.tensors.insert(next);
      else if (origin.computed.insert(next))
        llvm::append_range(open, op->getOperands());
    }
    return origin;
  }

  /// Whether one call's result makes the operand of the mask, and is read
  /// behind the mask by other work.
  static bool isReadLater(const Origin &origin, arith::CmpFOp mask) {
    if (origin.tensors.size() != 1 || origin.computed.empty() ||
        origin.computed.size() > kMostOps ||
        !isa_and_nonnull<RuntimeCallOpInterface>(
            origin.tensors.front().getDefiningOp()))
      return false;
    auto isReadBehind = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return user->getBlock() == mask->getBlock() &&
               mask->isBeforeInBlock(user);
      });
    };
    return isReadBehind(origin.tensors.front()) ||
           llvm::any_of(origin.computed.getArrayRef().drop_front(),
                        isReadBehind);
  }
};

} // namespace
