//===- Buffers.h - Which memory values lie in -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All parts that plan memory use three words:
//
// - A *value* is a tensor of a step: a result of an op, or an input of the
//   step.
// - A *view* is a value whose elements are those of another one, its source,
//   with strides of its own. An op that reads a view reads its source's memory.
// - A *buffer* is memory that is allocated as one piece. The value that it is
//   allocated for owns it, and represents it in these functions. Other values
//   may lie in it as well: views, a result that is written over an operand, the
//   parts of a concatenation.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_BUFFERS_H
#define GPUOPT_ANALYSIS_MEMORY_BUFFERS_H

#include "gpuopt/Interfaces/RuntimeCallOpInterface.h"
#include <optional>

namespace gpuopt {

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

/// True for the ops whose result can be a view of their operand's memory, such
/// as nn.reshape; false for null.
bool isViewOp(mlir::Operation *op);

/// Whether the results of an op lie in memory that exists before the step or
/// that another op owns: those of views, of reads of variables and of
/// constants.
bool namesMemory(mlir::Operation *op);

/// Whether something runs for an op of a step. Besides the ops that only name
/// memory, a concatenation does no work: its parts are written in place.
bool doesWork(mlir::Operation *op);

/// Returns the value at the start of a chain of views; if `value` is no view,
/// `value` itself.
mlir::Value sourceOf(mlir::Value value);

/// Returns the same, but goes no further than to the last slice, because
/// readers of two parts of one tensor share no elements.
mlir::Value sourceUpToSlice(mlir::Value value);

/// Returns the ops that read a value, directly or through views, each once.
llvm::SmallVector<mlir::Operation *> readersOf(mlir::Value value);

/// Whether nothing else reads the source of `value` than the one operand that
/// `value` is.
bool isReadOnce(mlir::Value value);

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Returns the operand in whose memory an op writes a result: for a kernel the
/// operand that it overwrites, for a call the one that the result is tied to.
/// Returns null if the result has memory of its own.
mlir::Value operandInPlace(mlir::OpResult result);

/// Whether `op` overwrites one of its operands, or a call that reads its result
/// overwrites that result, as products that accumulate in one tensor do. The
/// old content is then gone, so `op` cannot run again.
bool isUpdatedInPlace(mlir::Operation *op);

/// Returns the owner of the buffer in which a value lies. It follows views to
/// their source, and a result to the operand that it overwrites.
mlir::Value bufferOf(mlir::Value value);

/// Returns how a value lies in its buffer, or nothing if a reshape on the way
/// needs a copy.
std::optional<StridedView> viewOf(mlir::Value value);

namespace nn {
class ConcatOp;
} // namespace nn

/// Returns where operand `index` of a concatenation lies within the result.
StridedView concatPart(nn::ConcatOp op, unsigned index);

/// Returns where a result is written. If its only reader, directly or through
/// reshapes, is a concatenation, and its op can write into a part of a tensor,
/// that is a part of the concatenation; otherwise it is dense memory of its
/// own.
StridedView destinationOf(mlir::Value result);

/// Whether a value is the only one that an op writes to its memory: it is no
/// view, no argument of a block and no state, overwrites nothing, and lies in
/// nothing larger.
bool ownsMemory(mlir::Value value);

namespace nn {
class ScanOp;
} // namespace nn

/// Returns the values of an iteration of a loop that have memory which all
/// iterations use, one after the other: those that own memory and are not
/// yielded, whose place is in a result of the loop.
llvm::SmallVector<mlir::Value> iterationBuffersOf(nn::ScanOp scan);

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// Returns where a call finds its operands and writes its results, or nothing
/// if a reshape that it reads needs a copy.
std::optional<CallLayouts> layoutsOf(RuntimeCallOpInterface call);

/// Whether a call can read its operands as they lie in memory. Its results are
/// assumed to be dense.
bool canReadOperands(RuntimeCallOpInterface call);

/// Whether a call can read its operands as they lie in memory, and can write
/// its results to their destinations.
bool canBeMade(RuntimeCallOpInterface call);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_BUFFERS_H
