//===- Buffers.h - Which memory values lie in -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever plans memory speaks of it in three words:
//
// - A *value* is a tensor of a step: a result of an op, or an input.
// - A *view* is a value that looks at the elements of another one, its source,
//   by strides of its own. What reads a view reads its source's memory.
// - A *buffer* is memory that is allocated at once. The value that it is
//   allocated for owns it and stands for it here; other values lie in it as
//   well: views, a result that takes the place of an operand, the parts of a
//   concatenation.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_BUFFERS_H
#define GPUOPT_ANALYSIS_BUFFERS_H

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include <optional>

namespace gpuopt {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// True for the ops whose result can be a view of their operand's memory:
/// nn.reshape, nn.transpose, nn.broadcast, nn.slice.
bool isViewOp(mlir::Operation *op);

/// The value at the end of a chain of views: `value` itself if it is none.
mlir::Value sourceOf(mlir::Value value);

/// The same, but no further than to the last slice: readers of two parts of one
/// tensor share nothing.
mlir::Value sourceUpToSlice(mlir::Value value);

/// The ops that read a value, directly or through views, each once.
llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value);

/// Whether one operand is all that reads the source of `value`: the one that
/// `value` is.
bool isReadOnce(mlir::Value value);

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// The operand in whose memory an op writes a result: of a kernel one that it
/// overwrites, of a call the one that the result is tied to. Null where the
/// result has memory of its own.
mlir::Value operandInPlace(mlir::OpResult result);

/// Whether a call changes in place what `op` reads or makes, as products do
/// that are added up in one memory: what was there is gone, so `op` cannot run
/// again.
bool isUpdatedInPlace(mlir::Operation *op);

/// The buffer in which a value lies, as the value that owns it: through views,
/// and from a result to the operand whose place it takes.
mlir::Value bufferOf(mlir::Value value);

/// How a value lies in its buffer. Nothing where a reshape on the way needs a
/// copy.
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

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Where a call finds its operands, and writes its results. Nothing where a
/// reshape that it reads needs a copy.
std::optional<CallLayouts> layoutsOf(RuntimeCallOpInterface call);

/// Whether a call can be made on its operands as they lie, with results in
/// dense memory of their own.
bool canReadOperands(RuntimeCallOpInterface call);

/// Whether it can, and can write its results where they are to go.
bool canBeMade(RuntimeCallOpInterface call);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_BUFFERS_H
