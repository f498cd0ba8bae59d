//===- SplitReductions.cpp - Splits large reductions into parts -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A reduction whose first dimension is among others runs in one block per
// kept element, or in one block at all. Taking the first dimension last gives
// as many blocks as it has entries. Rounding differs from the whole
// reduction's, but is the same on every machine.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt::nn;

namespace {

class SplitReductions
    : public gpuopt::nn::impl::SplitReductionsBase<SplitReductions> {
public:
  using SplitReductionsBase::SplitReductionsBase;

private:
  void runOnOperation() override {
    SmallVector<ReduceOp> reductions;
    getOperation()->walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      split(op);
  }

  /// The first reduced dimension that is not 1, if another one follows.
  static std::optional<int64_t> outermost(ReduceOp op) {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(op.getInput().getType()).getShape();
    SmallVector<int64_t> real;
    for (int64_t dim : op.getDims())
      if (shape[dim] != 1)
        real.push_back(dim);
    if (real.size() < 2)
      return std::nullopt;
    return real.front();
  }

  void split(ReduceOp op) {
    std::optional<int64_t> last = outermost(op);
    auto type = cast<RankedTensorType>(op.getInput().getType());
    if (!last || type.getNumElements() < minimumElements)
      return;
    SmallVector<int64_t> first(op.getDims());
    llvm::erase(first, *last);
    OpBuilder builder(op);
    Value partial = ReduceOp::create(builder, op.getLoc(), op.getKind(),
                                     op.getInput(), first);
    Value whole = ReduceOp::create(builder, op.getLoc(), op.getKind(), partial,
                                   ArrayRef<int64_t>(*last));
    op.replaceAllUsesWith(whole);
    op.erase();
  }
};

} // namespace
