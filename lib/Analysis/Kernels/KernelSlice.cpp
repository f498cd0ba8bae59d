//===- KernelSlice.cpp - What one result of a kernel needs ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/KernelSlice.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the number of the result that the kernel writes with this value, or
/// -1. Arguments that are yielded unchanged count as operands.
static int resultIndex(Operation *yield, Value value) {
  for (auto [index, yielded] : llvm::enumerate(yield->getOperands()))
    if (yielded == value && !isa<BlockArgument>(value))
      return index;
  return -1;
}

/// Whether a slice may read the result. A part of a concatenation is written
/// into the whole, which it no longer would be if it had another reader.
static bool isReadable(OpResult result) {
  return destinationOf(result).buffer == result;
}

std::optional<KernelSlice> gpuopt::sliceFor(nn::FusedOp op, unsigned result) {
  if (op.getNumResults() == 1)
    return std::nullopt;
  Operation *yield = op.getBody().front().getTerminator();
  KernelSlice slice;
  llvm::SetVector<Value> reached;
  reached.insert(yield->getOperand(result));
  for (size_t i = 0; i < reached.size(); ++i) {
    Value value = reached[i];
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      slice.inputs.push_back(argument.getArgNumber());
      continue;
    }
    if (int other = resultIndex(yield, value);
        i > 0 && other >= 0 && isReadable(op->getOpResult(other))) {
      slice.results.push_back(other);
      continue;
    }
    Operation *inner = value.getDefiningOp();
    if (isa<nn::ReduceOp, nn::PartialSumOp>(inner))
      return std::nullopt;
    slice.ops.push_back(inner);
    reached.insert(inner->operand_begin(), inner->operand_end());
  }
  llvm::sort(slice.ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  slice.ops.erase(llvm::unique(slice.ops), slice.ops.end());
  llvm::sort(slice.inputs);
  llvm::sort(slice.results);
  return slice;
}

SmallVector<OpResult> gpuopt::resultsInOrder(Operation *op) {
  SmallVector<OpResult> results(op->getResults());
  auto fused = dyn_cast<nn::FusedOp>(op);
  if (!fused)
    return results;
  Operation *yield = fused.getBody().front().getTerminator();
  auto definer = [&](OpResult result) {
    return yield->getOperand(result.getResultNumber()).getDefiningOp();
  };
  llvm::sort(results, [&](OpResult a, OpResult b) {
    Operation *left = definer(a), *right = definer(b);
    if (left == right)
      return a.getResultNumber() < b.getResultNumber();
    return right && (!left || left->isBeforeInBlock(right));
  });
  return results;
}
