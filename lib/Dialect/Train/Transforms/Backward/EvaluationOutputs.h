//===- EvaluationOutputs.h - What metrics are computed from -----*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The trainer computes the metrics of a validation (trainer/eval_metrics.h)
// from small outputs of the evaluation: of classes, the predicted class of each
// label and the rank of the labelled one; of probabilities, the logits.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_EVALUATIONOUTPUTS_H
#define GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_EVALUATIONOUTPUTS_H

#include "Backward/Loss.h"

namespace gpuopt::train {

struct EvaluationOutputs {
  bool predictions = false; ///< The class of the largest logit, of each label.
  bool ranks = false;       ///< How many classes are at least as likely as it.
  bool logits = false;

  bool isEmpty() const { return !predictions && !ranks && !logits; }
};

/// Finds what metrics need. Returns what is wrong with their names, or nothing.
std::string findEvaluationOutputs(llvm::ArrayRef<std::string> metrics,
                                  LossKind kind, EvaluationOutputs &outputs);

/// Adds the outputs to an evaluation. Predictions and ranks have the shape and
/// the type of labels that are classes; they are computed by `chunks` of rows,
/// as the loss is. Where labels are a probability for each class, the likeliest
/// class of each label is one more output.
void buildEvaluationOutputs(nn::TensorBuilder &b,
                            const EvaluationOutputs &outputs,
                            mlir::Value logits, mlir::Value labels,
                            llvm::ArrayRef<LossChunk> chunks);

} // namespace gpuopt::train

#endif // GPUOPT_LIB_DIALECT_TRAIN_TRANSFORMS_EVALUATIONOUTPUTS_H
