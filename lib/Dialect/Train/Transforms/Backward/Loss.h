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

/// compile_table.h has the names that users give, in the same order.
enum class LossKind {
  CrossEntropy,
  NegativeLogLikelihood,
  MeanSquaredError,
  L1,
  Huber,
  SmoothL1,
  BinaryCrossEntropyWithLogits,
  Focal,
  Dice,
  KullbackLeibler,
  SoftCrossEntropy,
  None
};

/// The loss that a step minimises. The formulas and names are those of
/// torch.nn.functional; docs/training.md has those that are from elsewhere.
struct LossOptions {
  LossKind kind = LossKind::CrossEntropy;
  /// For losses of classes.
  int64_t ignoreIndex = -100;
  llvm::ArrayRef<double> classWeights; ///< One for each class; empty: all 1.
  double labelSmoothing = 0;           ///< Of both cross entropies.
  double huberDelta = 1, smoothL1Beta = 1;
  double focalAlpha = 0.25, focalGamma = 2; ///< A negative alpha: none.
  double diceSmooth = 1e-5;
};

/// Returns the loss that users know by a name, as "cross_entropy".
std::optional<LossKind> parseLossKind(llvm::StringRef name);
/// Returns "cross_entropy, nll, ... or none".
std::string lossNames();

/// Returns whether labels are classes, from which integers choose.
bool hasClasses(LossKind kind);
/// Returns whether a prediction is one of several classes: labels are classes,
/// or a probability for each of them.
bool choosesClass(LossKind kind);

/// Returns the type of the labels for logits of a type; null for
/// LossKind::None. If labels are classes, the classes are the last dimension of
/// logits with up to three dimensions, and dimension 1 (as in PyTorch) of
/// logits with more.
mlir::RankedTensorType labelsType(LossKind kind, mlir::RankedTensorType logits);

/// Returns logits whose last dimension is that of the classes.
mlir::Value classesLast(nn::TensorBuilder &b, mlir::Value logits);

/// Returns the number of classes that a label chooses from; for labels that
/// are probabilities 1, the largest one; or -1 if labels may be any numbers.
int64_t labelsLimit(LossKind kind, mlir::RankedTensorType logits);

/// Returns the largest number of targets that the loss can have: labels, or the
/// elements of a mean.
int64_t targetsOf(LossKind kind, mlir::RankedTensorType logits);

struct Loss {
  mlir::Value sum;    ///< Total over all targets, one element.
  mlir::Value weight; ///< Divisor for the mean, one element.
};

Loss buildLoss(nn::TensorBuilder &b, const LossOptions &options,
               mlir::Value logits, mlir::Value labels);

/// In how many chunks of rows a loss is computed.
struct LossChunkOptions {
  int64_t wanted;    ///< Their number; 0: as few as `mostBytes` allows.
  int64_t mostBytes; ///< The largest size of the logits of a chunk.
  bool areHalf;      ///< An element of the logits takes two bytes.
};

/// Some of the rows of a loss.
struct LossChunk {
  int64_t from, size;
};

/// Returns the chunks of rows in which the loss is computed, so that the logits
/// of a large vocabulary never exist whole: as many as are wanted; or as few as
/// keep each chunk below its size, but at most 16; and never more than the rows
/// can be sliced into. Their sizes differ by at most one slice (rowsPerSlice),
/// and those of the rarer size come first. Returns one chunk if the logits are
/// not the product of smaller tensors.
llvm::SmallVector<LossChunk> lossChunks(LossKind kind, mlir::Value logits,
                                        const LossChunkOptions &options);

/// Builds the cross entropies of each chunk's rows, and adds up all of them.
/// With one chunk, this is buildLoss.
Loss buildChunkedLoss(nn::TensorBuilder &b, const LossOptions &options,
                      mlir::Value logits, mlir::Value labels,
                      llvm::ArrayRef<LossChunk> chunks);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_LOSS_H
