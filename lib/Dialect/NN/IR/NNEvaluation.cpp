//===- NNEvaluation.cpp - What ops of nn are in evaluation ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

using namespace mlir;
using namespace gpuopt::nn;

/// Nothing is dropped.
void DropoutOp::becomeEvaluation() {
  replaceAllUsesWith(getInput());
  erase();
}

void AttentionOp::becomeEvaluation() {
  removeDropoutRatioAttr();
  removeStreamAttr();
}

/// The running statistics take the place of those of the batch, and stay as
/// they are for a batch norm that reads the same ones later.
void BatchNormOp::becomeEvaluation() {
  setFrozen(true);
  getNewMean().replaceAllUsesWith(getRunningMean());
  getNewVariance().replaceAllUsesWith(getRunningVariance());
}

/// A convolution, and a batch norm by the running statistics.
void ConvBatchNormOp::becomeEvaluation() {
  OpBuilder builder(*this);
  auto conv = ConvOp::create(
      builder, getLoc(), getInput(), getWeights(), ArrayRef<int64_t>{1, 1},
      ArrayRef<int64_t>{0, 0, 0, 0}, ArrayRef<int64_t>{1, 1}, /*groups=*/1);
  auto norm = BatchNormOp::create(builder, getLoc(), conv.getResult(),
                                  getScale(), getBias(), getRunningMean(),
                                  getRunningVariance(), getEpsilonAttr(),
                                  getMomentumAttr(), builder.getUnitAttr());
  getResult().replaceAllUsesWith(norm.getResult());
  getNewMean().replaceAllUsesWith(getRunningMean());
  getNewVariance().replaceAllUsesWith(getRunningVariance());
  erase();
}
