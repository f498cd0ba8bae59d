//===- Places.h - Where the elements that indices name lie ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// What gathers and scatters share: their indices become places in a tensor
// whose indexed dimensions are merged into one. Constant indices are checked by
// the compiler, others by the program.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_PLACES_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_PLACES_H

#include "Converters.h"

namespace gpuopt {

/// Returns the indices as i64. In constants, indices that count from the end
/// are changed to count from the front.
mlir::Value normalised(NodeConversion &c, mlir::Value indices, int64_t size);

/// Returns indices that are computed, within 0 .. size - 1.
mlir::Value inRange(NodeConversion &c, mlir::Value indices, int64_t size);

/// Returns the numbers of a constant of integers; null for other values, and
/// for a repeated number of more than kMostComputedElements elements.
std::optional<llvm::SmallVector<int64_t>> integersOf(mlir::Value value);

/// Returns the operand with its leading `depth` dimensions merged into one.
mlir::Value withMergedRows(nn::TensorBuilder &b, mlir::Value x, int64_t depth);

/// Returns the row that each tuple of `indices` [batch..., i..., depth] names
/// in a tensor of shape `from`, whose leading `batchDims` + depth dimensions
/// are merged into one; the shape is [batch..., i...]. Returns null, and notes
/// the problem, if the indices do not fit.
mlir::Value rowPlaces(NodeConversion &c, mlir::Value indices,
                      llvm::ArrayRef<int64_t> from, int64_t batchDims = 0);

/// Returns the place of each element (i, j, ...) of a tensor of shape `from`
/// that has indices[i, j, ...] as its coordinate along `axis`, in row-major
/// order. Returns null, and notes the problem, if the indices do not fit.
mlir::Value elementPlaces(NodeConversion &c, mlir::Value indices,
                          llvm::ArrayRef<int64_t> from, int64_t axis);

/// Returns the elements (i, j, ...) of x with index[i, j, ...] in place of
/// dimension `axis`, whose places `elementPlaces` has given.
mlir::Value takePlaces(nn::TensorBuilder &b, mlir::Value x, mlir::Value places);

/// Returns a table [r, c...] with updates [i..., c...] in place of the rows
/// [i...]; of several updates of a row, the last one wins.
mlir::Value replaceRows(nn::TensorBuilder &b, mlir::Value table,
                        mlir::Value updates, mlir::Value rows);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_PLACES_H
