//===- ControlFlow.h - Graphs inside of nodes -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_CONTROLFLOW_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_CONTROLFLOW_H

#include "Converters.h"

namespace gpuopt {

/// The most iterations of a loop that is unrolled, and the most nodes and ops
/// that the iterations of all such loops become.
inline constexpr int64_t kMostIterations = 4096, kMostUnrolledNodes = 1 << 18;

/// Converts the graph that is the attribute `name`, which is certainly
/// computed, and in one place, if `isOnce`. Problems of its nodes are reported
/// with those of all others, and `c` then has no problem of its own.
mlir::LogicalResult runGraph(NodeConversion &c, llvm::StringRef name,
                             llvm::ArrayRef<Converted> arguments,
                             llvm::SmallVectorImpl<Converted> &results,
                             bool isOnce = false);

/// Joins the results of iterations along a new dimension; notes the problem if
/// they are no tensors of one type.
mlir::Value stacked(NodeConversion &c, llvm::ArrayRef<mlir::Value> iterations,
                    int64_t axis);
/// Collects one result of each iteration.
mlir::LogicalResult
collect(NodeConversion &c, llvm::ArrayRef<Converted> results,
        llvm::SmallVectorImpl<llvm::SmallVector<mlir::Value>> &iterations);

/// Notes why the iterations of a node stand one after the other, if they are
/// many. A remark says so of nodes of which it is still true in the end.
void noteUnrolled(NodeConversion &c, int64_t iterations, llvm::StringRef why);
/// Says that a loop is too long to be unrolled, and why it is no loop.
mlir::LogicalResult failTooLong(NodeConversion &c, llvm::StringRef why);

/// Converts a Scan node.
mlir::LogicalResult scanNode(NodeConversion &c);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_CONTROLFLOW_H
