//===- StridedView.h - How a value lies in memory ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_STRIDEDVIEW_H
#define GPUOPT_ANALYSIS_STRIDEDVIEW_H

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include <optional>

namespace gpuopt {

/// True for the ops whose result can be a view of their operand's memory:
/// nn.reshape, nn.transpose, nn.broadcast, nn.slice.
bool isViewOp(mlir::Operation *op);

/// The operand in whose memory an op writes a result: of a kernel one that it
/// overwrites, of a call the one that the result is tied to. Null where the
/// result has memory of its own.
mlir::Value operandInPlace(mlir::OpResult result);

/// Whether a call changes in place what `op` reads or makes, as products do
/// that are added up in one memory: what was there is gone, so `op` cannot run
/// again.
bool isUpdatedInPlace(mlir::Operation *op);

/// The value that owns the memory in which `value` lies: through view ops, and
/// from a result to the operand whose place it takes.
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

/// Where a result is written: into the concatenation that is its only reader,
/// directly or through reshapes, if its op can write a part of it, or else into
/// dense memory of its own.
StridedView destinationOf(mlir::Value result);

/// Where a call finds its operands, and writes its results. Nothing where a
/// reshape that it reads needs a copy.
std::optional<CallLayouts> layoutsOf(RuntimeCallOpInterface call);

/// Whether a call can be made on its operands as they lie, with results in
/// dense memory of their own.
bool canReadOperands(RuntimeCallOpInterface call);

/// Whether it can, and can write its results where they are to go.
bool canBeMade(RuntimeCallOpInterface call);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_STRIDEDVIEW_H
