//===- AttentionPairs.h - How much attention there is -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H
#define GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include <optional>

namespace gpuopt {

struct AttentionPairs {
  /// The number of pairs of a query and a key that it sees, over all batches
  /// and heads.
  double visible = 0;
  bool isGradient = false;
  bool isCapped = false; ///< Scores have a soft cap.
};

/// Returns nothing if `op` is neither attention nor its gradient.
std::optional<AttentionPairs> attentionPairsOf(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H
