//===- Loss.h - What a step minimises ---------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_LOSS_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_LOSS_H

#include "gpuopt/Dialect/NN/IR/TensorBuilder.h"

namespace gpuopt::train {

enum class LossKind {
  CrossEntropy,
  MeanSquaredError,
  BinaryCrossEntropyWithLogits,
  L1,
  None
};

/// By the name that users know: cross_entropy, mse, bce_with_logits, l1, none.
std::optional<LossKind> parseLossKind(llvm::StringRef name);

/// Type of the labels for logits of a type; null for LossKind::None. For class
/// labels, the classes are the last dimension of logits with up to three
/// dimensions, and dimension 1 (as in PyTorch) of those with more.
mlir::RankedTensorType labelsType(LossKind kind, mlir::RankedTensorType logits);

/// Classes that a label chooses from, -1 where labels are no indices.
int64_t labelsLimit(LossKind kind, mlir::RankedTensorType logits);

/// What the loss is a sum over, at most: labels, or elements of a mean.
int64_t targetsOf(LossKind kind, mlir::RankedTensorType logits);

struct Loss {
  mlir::Value sum;    ///< Total over all targets, one element.
  mlir::Value weight; ///< What to divide by for the mean, one element.
};

Loss buildLoss(nn::TensorBuilder &b, LossKind kind, mlir::Value logits,
               mlir::Value labels, int64_t ignoreIndex, double labelSmoothing);

/// In how many chunks of rows the loss is computed, so that logits of a large
/// vocabulary never exist whole: `wanted`, or, where that is 0, as few as keep
/// each below 1 GiB, but at most 16. 1 where the logits are not the product of
/// smaller tensors, or `wanted` does not divide their rows.
int64_t lossChunks(LossKind kind, mlir::Value logits, int64_t wanted);

/// The loss of each chunk, added up. The order of summation follows from
/// `chunks` alone.
Loss buildChunkedLoss(nn::TensorBuilder &b, LossKind kind, mlir::Value logits,
                      mlir::Value labels, int64_t ignoreIndex,
                      double labelSmoothing, int64_t chunks);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_LOSS_H
