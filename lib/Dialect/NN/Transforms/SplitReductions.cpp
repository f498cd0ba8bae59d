//===- SplitReductions.cpp - Splits large reductions into parts -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A reduction over several dimensions runs with one block for each element that
// it keeps, and so with a single block if it keeps none. If the first dimension
// is reduced last, in a reduction of its own, there are as many blocks as it
// has entries. The rounding differs from that of the whole reduction, but it is
// the same on every machine.
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

  /// Returns the first reduced dimension that is not 1, if another reduced one
  /// follows it.
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
