//===- SliceRows.h - Some rows of a value -----------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SLICEROWS_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SLICEROWS_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::train {

/// Returns `size` rows of `value`, from row `from` of its first dimension on.
/// They are computed from the same rows of what `value` is computed from: the
/// function goes up through layout changes and elementwise ops to a product,
/// and slices its operands. A value that comes from no such chain is sliced
/// itself.
mlir::Value sliceRows(nn::TensorBuilder &b, mlir::Value value, int64_t from,
                      int64_t size);

/// Returns how many rows a slice must begin at a multiple of, and have a
/// multiple of, for sliceRows to reach a product, so that `value` as a whole
/// need never exist. It divides the number of rows; 0: no slice reaches one, or
/// there are no rows.
int64_t rowsPerSlice(mlir::Value value);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SLICEROWS_H
