//===- AttentionScores.h - Which scores an attention has --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_ATTENTIONSCORES_H
#define GPUOPT_DIALECT_NN_IR_ATTENTIONSCORES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/settings/attention_kernels.h"

namespace gpuopt::nn {

/// Returns the type of the scores, [..., L, S], of a query [..., L, E] and
/// a key [..., S, E].
mlir::RankedTensorType scoresType(mlir::Value query, mlir::Value key);

/// Returns the keys that query `row` sees through a band: the first one, and
/// the one after the last.
std::pair<int64_t, int64_t> keysInBand(mlir::RankedTensorType scores,
                                       llvm::ArrayRef<int64_t> band,
                                       int64_t row);

/// Queries and keys whose scores are computed together.
struct ScoreTile {
  int64_t queries = 1, keys = 1;
};

/// Returns how many pairs of a query and a key are in the tiles in which at
/// least one pair is seen, those beyond the last query and key included. In
/// tiles of one pair these are the pairs that are seen.
double pairsInTiles(mlir::RankedTensorType scores,
                    std::optional<llvm::ArrayRef<int64_t>> band,
                    ScoreTile tile);

/// The kernels that the call of an attention, or of its gradient, names.
struct AttentionKernels {
  int64_t head; ///< The size of the heads that they are for.
  AttentionScores scores;
};

/// Returns the kernels for an nn.attention or an nn.attention_grad whose
/// operands and results lie so.
AttentionKernels attentionKernelsOf(mlir::Operation *op,
                                    const CallLayouts &layouts);

} // namespace gpuopt::nn

#endif // GPUOPT_DIALECT_NN_IR_ATTENTIONSCORES_H
