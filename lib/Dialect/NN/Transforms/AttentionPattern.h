//===- AttentionPattern.h - Attention spelled out in ops --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H
#define GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::nn {

/// An operand of a product, and what brings it into [..., rows, columns].
struct AttentionOperand {
  mlir::Value value;
  llvm::SmallVector<int64_t> permutation; ///< Of the product's dimensions.
  /// The splat that the value is multiplied with, by this op; null without.
  mlir::Operation *scaling = nullptr;
  double factor = 1;
};

/// What stands around a softmax. `problem` says why it is no attention after
/// all; the other members then mean nothing.
struct AttentionMatch {
  bool isBetweenProducts = false;
  std::string problem;

  AttentionOperand query, key, value;
  mlir::Value mask;
  bool isMaskInverted = false; ///< Boolean, true where a score is hidden.
  std::optional<double> maskedValue, dropoutRatio;
  std::optional<int64_t> stream;
  double scale = 1;
  AttentionScaling scaling = AttentionScaling::Scores;
  bool zeroesEmpty = false;

  llvm::SmallVector<int64_t> leading; ///< Dimensions of the softmax before two.
  ContractOp product;                 ///< Of probabilities and values.
  llvm::SmallVector<int64_t> productShape, productPermutation;
  llvm::SmallVector<std::pair<AttentionOp::Part, mlir::Location>> parts;
};

AttentionMatch matchAttention(SoftmaxOp softmax);

/// The value with its dimensions permuted; transposes that cancel out vanish.
mlir::Value permuted(TensorBuilder &b, mlir::Value value,
                     llvm::ArrayRef<int64_t> permutation);

/// The operand as [leading..., rows, columns].
mlir::Value arrange(TensorBuilder &b, const AttentionOperand &operand,
                    llvm::ArrayRef<int64_t> leading);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H
