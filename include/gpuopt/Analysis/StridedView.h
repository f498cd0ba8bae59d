//===- StridedView.h - How a value lies in memory ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_STRIDEDVIEW_H
#define GPUOPT_ANALYSIS_STRIDEDVIEW_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace gpuopt {

/// A value as a strided window on the memory of another: element (i0, i1, ...)
/// lies `offset + i0 * strides[0] + ...` elements after the root's first.
struct StridedView {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;

  /// In row-major order without gaps or repetition, from the root's `offset`.
  bool isDense() const;
};

/// Row-major strides of a dense tensor.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> sizes);

/// True for the ops whose result can be a view of their operand's memory:
/// nn.reshape, nn.transpose, nn.broadcast, nn.slice.
bool isViewOp(mlir::Operation *op);

/// The value that owns the memory in which `value` lies: through view ops,
/// from the result of a product to what it was added to, and from a kernel's
/// result to the operand whose place it takes.
mlir::Value memoryOwner(mlir::Value value);

/// Follows view ops up to the value that owns the memory. Nothing where a
/// reshape on the way needs a copy. A value that no view op produced is its
/// own root.
std::optional<StridedView> viewOf(mlir::Value value);

namespace nn {
class ConcatOp;
} // namespace nn

/// Where operand `index` of a concatenation lies within its result.
StridedView concatPart(nn::ConcatOp op, unsigned index);

/// Where the result of a product or kernel is written: into the concatenation
/// that is its only reader, directly or through reshapes, or else into dense
/// memory of its own.
StridedView destinationOf(mlir::Value result);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_STRIDEDVIEW_H
