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

/// The running statistics take the place of those of the batch.
void BatchNormOp::becomeEvaluation() { setFrozen(true); }
