//===- AttentionLayouts.h - How operands of an attention lie ----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONLAYOUTS_H
#define GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONLAYOUTS_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::nn {

/// An operand of a product, and what turns it into [..., rows, columns].
struct AttentionOperand {
  mlir::Value value;
  llvm::SmallVector<int64_t> permutation; ///< Its dimensions.
  /// The op that multiplies the value by one constant; null if there is none.
  mlir::Operation *scaling = nullptr;
  double factor = 1;
};

/// Returns the number of which all elements of a constant are; nothing for any
/// other value.
std::optional<double> splatOf(mlir::Value value);

/// Matches x * c, c * x or x / c; returns x and the factor.
std::optional<std::pair<mlir::Value, double>> scalingOf(mlir::Operation *op);

/// Returns the last two dimensions of a value, or all that it has.
llvm::ArrayRef<int64_t> matrixOf(mlir::Value value);

/// Whether a reshape, which may be null, changes only the leading dimensions.
bool regroups(ReshapeOp op);

/// Returns the value with its dimensions permuted. Transposes that cancel out
/// are removed.
mlir::Value permuted(TensorBuilder &b, mlir::Value value,
                     llvm::ArrayRef<int64_t> permutation);

/// Returns the operand as [leading..., rows, columns].
mlir::Value arrange(TensorBuilder &b, const AttentionOperand &operand,
                    llvm::ArrayRef<int64_t> leading);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONLAYOUTS_H
