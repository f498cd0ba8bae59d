//===- AttentionPattern.h - Attention spelled out in ops --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H
#define GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H

#include "AttentionLayouts.h"

namespace gpuopt::nn {

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

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_TRANSFORMS_ATTENTIONPATTERN_H
