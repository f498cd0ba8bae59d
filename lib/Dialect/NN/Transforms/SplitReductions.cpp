//===- SplitReductions.cpp - Splits large reductions into parts -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A reduction over several dimensions runs with one block for each element that
// it keeps, and so with a single block if it keeps none. If the first dimension
// is reduced last, in a reduction of its own, there are as many blocks as it
// has entries. A GPU may need more: the sums over 16 images of 256x256 pixels
// with 64 channels would be 16 blocks for 132 multiprocessors, so there the
// rows of pixels are reduced last as well. The rounding differs from that of
// the whole reduction, but it is the same on every machine.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Dialect/NN/Transforms/Passes.h"
#include "mlir/IR/Builders.h"

namespace gpuopt::nn {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "gpuopt/Dialect/NN/Transforms/Passes.h.inc"
} // namespace gpuopt::nn

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

namespace {

class SplitReductions
    : public gpuopt::nn::impl::SplitReductionsBase<SplitReductions> {
public:
  using SplitReductionsBase::SplitReductionsBase;

private:
  void runOnOperation() override {
    FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
    if (failed(model))
      return signalPassFailure();
    if (model->hasWarps())
      wantedBlocks = int64_t(model->multiprocessors);
    SmallVector<ReduceOp> reductions;
    getOperation()->walk([&](ReduceOp op) { reductions.push_back(op); });
    for (ReduceOp op : reductions)
      split(op);
  }

  /// Returns how many blocks a kernel has that keeps some of the dimensions
  /// that `op` reduces.
  static int64_t blocksOf(ReduceOp op, ArrayRef<int64_t> kept) {
    auto type = cast<RankedTensorType>(op.getInput().getType());
    int64_t blocks = 1;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      bool isReduced = llvm::is_contained(op.getDims(), dim) &&
                       !llvm::is_contained(kept, dim);
      bool isColumns = dim + 1 == type.getRank();
      if (!isReduced)
        blocks *= isColumns
                      ? llvm::divideCeil(type.getDimSize(dim), kLeastColumns)
                      : type.getDimSize(dim);
    }
    return blocks;
  }

  /// Returns the dimensions to be reduced last: of those that are not 1 the
  /// first, and further ones while the device has too few blocks. At least one
  /// is left to be reduced before; if there is none, the result is empty.
  SmallVector<int64_t> outermost(ReduceOp op) const {
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(op.getInput().getType()).getShape();
    SmallVector<int64_t> real, last;
    for (int64_t dim : op.getDims())
      if (shape[dim] != 1)
        real.push_back(dim);
    for (size_t i = 0; i + 1 < real.size(); ++i)
      if (i == 0 || blocksOf(op, last) < wantedBlocks)
        last.push_back(real[i]);
    return last;
  }

  void split(ReduceOp op) {
    SmallVector<int64_t> last = outermost(op);
    auto type = cast<RankedTensorType>(op.getInput().getType());
    if (last.empty() || type.getNumElements() < minimumElements)
      return;
    SmallVector<int64_t> first(op.getDims());
    llvm::erase_if(first,
                   [&](int64_t dim) { return llvm::is_contained(last, dim); });
    OpBuilder builder(op);
    Value partial = ReduceOp::create(builder, op.getLoc(), op.getKind(),
                                     op.getInput(), first);
    auto whole =
        ReduceOp::create(builder, op.getLoc(), op.getKind(), partial, last);
    op.replaceAllUsesWith(whole.getResult());
    op.erase();
    int64_t parts = 1;
    for (int64_t dim : last)
      parts *= type.getDimSize(dim);
    if (parts > kMostParts)
      split(whole);
  }

  /// A kernel more takes longer than a block needs for so many partial results.
  static constexpr int64_t kMostParts = 1024;
  int64_t wantedBlocks = 0;
};

} // namespace
