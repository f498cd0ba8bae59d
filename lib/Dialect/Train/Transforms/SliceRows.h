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

/// `size` rows of `value`, from row `from` of its first dimension, computed
/// from the same rows of what it is made of: through layout changes and
/// elementwise ops up to a product, whose operands are sliced. Values that
/// no such way leads to are sliced themselves.
mlir::Value sliceRows(nn::TensorBuilder &b, mlir::Value value, int64_t from,
                      int64_t size);

/// Whether sliceRows reaches a product, so that the whole of `value` need
/// never exist.
bool isMadeByProduct(mlir::Value value);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_SLICEROWS_H
