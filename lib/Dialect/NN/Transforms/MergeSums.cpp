//===- MergeSums.cpp - One sum for several that differ by a factor --------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The backward of a batch norm needs sum(dy) for the bias, and for the input
// sum(dy * scale), which is the same sum times the scale of the channel. Here
// factors that do not vary along the summed dimensions are taken out of sums
// where that makes several sums one. It helps on a GPU, where each sum over
// columns is two kernels, and changes the rounding; so it is for GPUs alone.
//
// Only sums over columns are looked at: a row that is summed is in registers,
// and its sums cost little. Operands are expected to be merged by CSE.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_MERGESUMS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

/// More factors than any formula has that is written by hand.
static constexpr size_t kMostFactors = 16;

/// Returns the shape of what a broadcast repeats, in the rank of its result.
static SmallVector<int64_t> sourceShapeOf(BroadcastOp broadcast) {
  ArrayRef<int64_t> source = TensorBuilder::shape(broadcast.getInput());
  SmallVector<int64_t> shape(
      TensorBuilder::shape(broadcast.getResult()).size() - source.size(), 1);
  llvm::append_range(shape, source);
  return shape;
}

/// Returns the broadcast that makes a value, if it repeats its operand along
/// all dimensions that are summed.
static BroadcastOp repeatsAlongSum(ReduceOp sum, Value value) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast)
    return {};
  SmallVector<int64_t> source = sourceShapeOf(broadcast);
  bool repeats = llvm::all_of(sum.getDims(),
                              [&](int64_t dim) { return source[dim] == 1; });
  return repeats ? broadcast : BroadcastOp();
}

namespace {

/// A sum of products: the factors that vary along the summed dimensions, in
/// their order, and those that do not.
struct Sum {
  ReduceOp op;
  SmallVector<Value> summed;
  SmallVector<BroadcastOp> outside;

  /// Whether both add up the same products; the order of factors is free.
  bool addsSameAs(Sum &other) {
    return op.getInput().getType() == other.op.getInput().getType() &&
           op->getBlock() == other.op->getBlock() &&
           op.getDims() == other.op.getDims() &&
           std::is_permutation(summed.begin(), summed.end(),
                               other.summed.begin(), other.summed.end());
  }
};

class MergeSums : public gpuopt::nn::impl::MergeSumsBase<MergeSums> {
  void runOnOperation() override {
    SmallVector<SmallVector<Sum>> groups;
    getOperation()->walk([&](ReduceOp op) {
      std::optional<Sum> sum = factorsOf(op);
      if (!sum)
        return;
      auto group = llvm::find_if(groups, [&](SmallVector<Sum> &group) {
        return group.front().addsSameAs(*sum);
      });
      if (group == groups.end())
        groups.push_back({*sum});
      else
        group->push_back(*sum);
    });
    for (SmallVector<Sum> &group : groups)
      if (group.size() > 1 && renew(group))
        merge(group);
  }

  /// Takes the factors anew, since some of them may be sums that have been
  /// merged in the meantime. Returns false if one of the sums has too many.
  static bool renew(MutableArrayRef<Sum> group) {
    for (Sum &sum : group) {
      std::optional<Sum> now = factorsOf(sum.op);
      if (!now)
        return false;
      sum = *now;
    }
    return true;
  }

  /// Splits what a sum over columns adds up into factors.
  static std::optional<Sum> factorsOf(ReduceOp op) {
    int64_t rank = TensorBuilder::shape(op.getInput()).size();
    if (op.getKind() != ReductionKind::Sum ||
        llvm::is_contained(op.getDims(), rank - 1))
      return std::nullopt;
    Sum sum{op, {}, {}};
    SmallVector<Value> open{op.getInput()};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      if (auto product = value.getDefiningOp<arith::MulFOp>())
        open.append({product.getRhs(), product.getLhs()});
      else if (BroadcastOp repeated = repeatsAlongSum(op, value))
        sum.outside.push_back(repeated);
      else
        sum.summed.push_back(value);
      if (open.size() + sum.summed.size() > kMostFactors)
        return std::nullopt;
    }
    return sum.summed.empty() ? std::nullopt : std::optional(sum);
  }

  /// Builds the sum at the first of the group; each is that, times its own
  /// factors.
  void merge(MutableArrayRef<Sum> group) {
    Sum &first = group.front();
    TensorBuilder b(first.op.getLoc(), first.op);
    Value product = first.summed.front();
    for (Value factor : ArrayRef(first.summed).drop_front())
      product = b.mul(product, factor);
    auto shared = ReduceOp::create(b, first.op.getLoc(), ReductionKind::Sum,
                                   product, first.op.getDims());
    shared->setDiscardableAttrs(first.op->getDiscardableAttrDictionary());
    for (Sum &sum : group) {
      TensorBuilder at(sum.op.getLoc(), sum.op);
      Value result = shared.getResult();
      for (BroadcastOp factor : sum.outside)
        result = at.mul(result,
                        at.reshape(factor.getInput(), sourceShapeOf(factor)));
      sum.op.replaceAllUsesWith(result);
      sum.op.erase();
    }
    mergedCount += group.size() - 1;
  }
};

} // namespace
