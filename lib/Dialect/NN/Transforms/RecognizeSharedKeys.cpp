//===- RecognizeSharedKeys.cpp - Keys that groups of heads share ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exporters repeat keys and values for each head of a group. This pass removes
// the repeats where the runtime has a call for attention without them: the call
// reads the same keys for all heads of a group, and adds up their gradients.
//
// After the pass, no attention that becomes a call reads keys and values that
// are both repeated.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_RECOGNIZESHAREDKEYS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

namespace {

/// A tensor [..., heads, rows, columns] of which each head is repeated.
struct Repeated {
  Value input;
  SmallVector<int64_t> shape; ///< Of the input, with the fewer heads.
};

} // namespace

/// Matches a broadcast along one dimension: `fromEnd` counts from the last one.
static bool repeatsOnly(BroadcastOp op, int64_t fromEnd) {
  ArrayRef<int64_t> from = TensorBuilder::shape(op.getInput()),
                    to = TensorBuilder::shape(op.getResult());
  if (from.size() != to.size() || (int64_t)from.size() <= fromEnd)
    return false;
  size_t dim = from.size() - 1 - fromEnd;
  return from[dim] == 1 && from.take_front(dim) == to.take_front(dim) &&
         from.drop_front(dim + 1) == to.drop_front(dim + 1);
}

/// Matches [..., h, 1, S, E] that is broadcast to [..., h, g, S, E] and
/// reshaped to [..., h g, S, E].
static std::optional<Repeated> repeatedGroups(ReshapeOp reshape) {
  auto broadcast = reshape.getInput().getDefiningOp<BroadcastOp>();
  if (!broadcast || !repeatsOnly(broadcast, 2))
    return std::nullopt;
  SmallVector<int64_t> shape(TensorBuilder::shape(broadcast.getInput()));
  shape.erase(shape.end() - 3);
  ArrayRef<int64_t> wide = TensorBuilder::shape(broadcast.getResult());
  SmallVector<int64_t> result(shape);
  if (shape.size() < 3)
    return std::nullopt;
  result.end()[-3] *= wide[wide.size() - 3];
  if (ArrayRef<int64_t>(result) != TensorBuilder::shape(reshape.getResult()))
    return std::nullopt;
  return Repeated{broadcast.getInput(), shape};
}

static std::optional<Repeated> matchRepeated(Value value) {
  if (auto reshape = value.getDefiningOp<ReshapeOp>())
    return repeatedGroups(reshape);
  // One head is repeated for all.
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast || !repeatsOnly(broadcast, 2))
    return std::nullopt;
  return Repeated{broadcast.getInput(),
                  llvm::to_vector(TensorBuilder::shape(broadcast.getInput()))};
}

namespace {

class RecognizeSharedKeys
    : public gpuopt::nn::impl::RecognizeSharedKeysBase<RecognizeSharedKeys> {
  void runOnOperation() override {
    getOperation()->walk([&](AttentionOp op) {
      std::optional<Repeated> key = matchRepeated(op.getKey()),
                              value = matchRepeated(op.getValue());
      if (!key || !value ||
          ArrayRef(key->shape).drop_back() !=
              ArrayRef(value->shape).drop_back())
        return;
      setKeys(op, *key, *value);
    });
  }

  /// Sets the operand that was there before.
  static void undo(OpOperand &operand, Value before) {
    Operation *made = operand.get().getDefiningOp();
    operand.set(before);
    if (made && isOpTriviallyDead(made))
      made->erase();
  }

  void setKeys(AttentionOp op, const Repeated &key, const Repeated &value) {
    TensorBuilder b(op.getLoc(), op);
    Value oldKey = op.getKey(), oldValue = op.getValue();
    op.getKeyMutable().assign(b.reshape(key.input, key.shape));
    op.getValueMutable().assign(b.reshape(value.input, value.shape));
    auto options = remark::RemarkOpts::name("shared-keys")
                       .category("recognize-shared-keys");
    if (StringRef reason = op.getReasonAgainstCall(); !reason.empty()) {
      remark::missed(op.getLoc(), options)
          << ("keys stay repeated for each head: " + reason).str();
      undo(op.getKeyMutable(), oldKey);
      undo(op.getValueMutable(), oldValue);
      return;
    }
    ++recognizedCount;
    int64_t heads = op.getScoresType().getShape().drop_back(2).back(),
            shared = ArrayRef(key.shape).drop_back(2).back();
    remark::passed(op.getLoc(), options)
        << llvm::formatv("{0} heads share {1} of keys and values", heads,
                         shared)
               .str();
  }
};

} // namespace
