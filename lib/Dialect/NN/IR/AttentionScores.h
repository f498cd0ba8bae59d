//===- AttentionScores.h - Which scores an attention has --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_NN_IR_ATTENTIONSCORES_H
#define GPUOPT_LIB_DIALECT_NN_IR_ATTENTIONSCORES_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt::nn {

/// Returns the type of the scores, [..., L, S], of a query [..., L, E] and
/// a key [..., S, E].
mlir::RankedTensorType scoresType(mlir::Value query, mlir::Value key);

/// Returns the keys that query `row` sees through a band: the first one, and
/// the one after the last.
std::pair<int64_t, int64_t> keysInBand(mlir::RankedTensorType scores,
                                       llvm::ArrayRef<int64_t> band,
                                       int64_t row);

} // namespace gpuopt::nn

#endif // GPUOPT_LIB_DIALECT_NN_IR_ATTENTIONSCORES_H
