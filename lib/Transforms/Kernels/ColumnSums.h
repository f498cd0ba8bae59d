//===- ColumnSums.h - Kernels that add up columns ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_KERNELS_COLUMNSUMS_H
#define GPUOPT_LIB_TRANSFORMS_KERNELS_COLUMNSUMS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "llvm/ADT/SetVector.h"
#include <optional>

namespace gpuopt {

llvm::ArrayRef<int64_t> shapeOf(mlir::Value value);

mlir::ValueRange yieldedBy(nn::FusedOp kernel);

/// Returns the first reduction of a kernel, or null.
nn::ReduceOp firstReduction(nn::FusedOp kernel);

/// Returns the shape of the indices that a kernel covers, if it reduces or all
/// of its results have the same shape.
llvm::ArrayRef<int64_t> spaceOf(nn::FusedOp kernel);

/// Whether a kernel adds up columns, and does nothing else.
bool sumsColumns(nn::FusedOp kernel);

/// Whether a tensor is what is left of one of `shape` whose columns are summed.
bool isSumOfColumns(mlir::Value value, llvm::ArrayRef<int64_t> shape);

/// Returns the sum over all rows that a kernel makes of a partial one, if it
/// does nothing but add up results of the kernel that makes the partial sum.
mlir::OpResult finishedSum(mlir::OpResult partial,
                           llvm::ArrayRef<int64_t> shape);

/// A kernel that adds up columns, in one stage or in two.
struct ColumnSums {
  nn::FusedOp kernel;
  /// For each result, the sum over all rows.
  llvm::SmallVector<mlir::OpResult> whole;
  /// The kernels that make them, if there are two stages.
  llvm::SmallSetVector<mlir::Operation *, 4> lastStages;
};

/// Returns the sums that a kernel makes, or nothing if it does more than that.
std::optional<ColumnSums> columnSumsOf(nn::FusedOp kernel);

} // namespace gpuopt

#endif // GPUOPT_LIB_TRANSFORMS_KERNELS_COLUMNSUMS_H
