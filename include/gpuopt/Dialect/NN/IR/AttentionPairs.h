//===- AttentionPairs.h - How much attention there is -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H
#define GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt {

/// Returns how many pairs of a query and a key that it sees there are, over all
/// batches and heads.
double visiblePairs(nn::AttentionOp op);
double visiblePairs(nn::AttentionGradOp op);

} // namespace gpuopt

#endif // GPUOPT_DIALECT_NN_IR_ATTENTIONPAIRS_H
