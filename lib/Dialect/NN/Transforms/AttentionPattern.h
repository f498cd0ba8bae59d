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

/// An operand of a product, and what turns it into [..., rows, columns].
struct AttentionOperand {
  mlir::Value value;
  llvm::SmallVector<int64_t> permutation; ///< Its dimensions.
  /// The op that multiplies the value by one constant; null if there is none.
  mlir::Operation *scaling = nullptr;
  double factor = 1;
};

/// A selection between scores and a number that replaces the hidden ones.
struct ScoreSelection {
  mlir::Value condition;
  bool isInverted = false; ///< True hides a score.
  double hidden = 0;       ///< The number.
};

/// The ops around a softmax that are an attention. If `problem` is not empty,
/// it says why they are none, and the other members mean nothing.
struct AttentionMatch {
  bool isBetweenProducts = false;
  std::string problem;

  AttentionOperand query, key, value;
  mlir::Value mask, bias;
  bool isMaskInverted = false;             ///< True hides a score.
  std::optional<ScoreSelection> innerMask; ///< Applied before `mask`.
  llvm::SmallVector<int64_t> biasShape;    ///< To reshape the bias to, if any.
  std::optional<double> softcap, maskedValue, dropoutRatio;
  std::optional<int64_t> stream;
  double scale = 1;
  AttentionScaling scaling = AttentionScaling::Scores;
  bool zeroesEmpty = false;

  llvm::SmallVector<int64_t> leading; ///< All but the last two.
  ContractOp product;                 ///< Probabilities x values.
  llvm::SmallVector<int64_t> productShape, productPermutation;
  llvm::SmallVector<std::pair<AttentionOp::Part, mlir::Location>> parts;
};

AttentionMatch matchAttention(SoftmaxOp softmax);

/// Returns the value with its dimensions permuted. Transposes that cancel out
/// are removed.
mlir::Value permuted(TensorBuilder &b, mlir::Value value,
                     llvm::ArrayRef<int64_t> permutation);

/// Returns the operand as [leading..., rows, columns].
mlir::Value arrange(TensorBuilder &b, const AttentionOperand &operand,
                    llvm::ArrayRef<int64_t> leading);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H
