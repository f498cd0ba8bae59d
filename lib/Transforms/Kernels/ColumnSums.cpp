//===- ColumnSums.cpp - Kernels that add up columns -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ColumnSums.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

ArrayRef<int64_t> gpuopt::shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

ValueRange gpuopt::yieldedBy(FusedOp kernel) {
  return cast<YieldOp>(kernel.getBody().front().getTerminator()).getValues();
}

ReduceOp gpuopt::firstReduction(FusedOp kernel) {
  auto reductions = kernel.getBody().front().getOps<ReduceOp>();
  return reductions.empty() ? ReduceOp() : *reductions.begin();
}

ArrayRef<int64_t> gpuopt::spaceOf(FusedOp kernel) {
  if (ReduceOp reduction = firstReduction(kernel))
    return shapeOf(reduction.getInput());
  return shapeOf(kernel.getResult(0));
}

/// Whether all results of a kernel are sums of floats.
static bool yieldsSums(FusedOp kernel) {
  return llvm::all_of(yieldedBy(kernel), [](Value value) {
    auto sum = value.getDefiningOp<ReduceOp>();
    return sum && sum.getKind() == ReductionKind::Sum &&
           isa<FloatType>(getElementTypeOrSelf(sum.getType()));
  });
}

bool gpuopt::sumsColumns(FusedOp kernel) {
  ReduceOp reduction = firstReduction(kernel);
  if (!reduction || !yieldsSums(kernel))
    return false;
  int64_t last = int64_t(spaceOf(kernel).size()) - 1;
  return last > 0 && !llvm::is_contained(reduction.getDims(), last) &&
         spaceOf(kernel).back() > 1;
}

bool gpuopt::isSumOfColumns(Value value, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sum(shape.size(), 1);
  sum.back() = shape.back();
  return shapeOf(value) == ArrayRef(sum);
}

OpResult gpuopt::finishedSum(OpResult partial, ArrayRef<int64_t> shape) {
  if (!partial.hasOneUse())
    return {};
  OpOperand &use = *partial.use_begin();
  auto last = dyn_cast<FusedOp>(use.getOwner());
  if (!last || !yieldsSums(last) ||
      !llvm::all_of(last.getInputs(), [&](Value input) {
        return input.getDefiningOp() == partial.getOwner();
      }))
    return {};
  BlockArgument argument =
      last.getBody().front().getArgument(use.getOperandNumber());
  for (auto [result, value] : llvm::zip(last.getResults(), yieldedBy(last)))
    if (value.getDefiningOp<ReduceOp>().getInput() == argument)
      return argument.hasOneUse() && isSumOfColumns(result, shape) ? result
                                                                   : OpResult();
  return {};
}

std::optional<ColumnSums> gpuopt::columnSumsOf(FusedOp kernel) {
  if (!sumsColumns(kernel))
    return std::nullopt;
  ArrayRef<int64_t> shape = spaceOf(kernel);
  ColumnSums sums{kernel, {}, {}};
  for (OpResult result : kernel.getResults()) {
    if (isSumOfColumns(result, shape)) {
      sums.whole.push_back(result);
      continue;
    }
    OpResult whole = finishedSum(result, shape);
    if (!whole)
      return std::nullopt;
    sums.whole.push_back(whole);
    sums.lastStages.insert(whole.getOwner());
  }
  return sums;
}
