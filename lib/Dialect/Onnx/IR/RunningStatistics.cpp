//===- RunningStatistics.cpp - State of batch normalisation ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Onnx/IR/RunningStatistics.h"

using namespace mlir;
using namespace gpuopt;

bool onnx::isRunningStatistic(InitializerOp op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto node = dyn_cast<NodeOp>(use.getOwner());
    return node && node.is("BatchNormalization") && use.getOperandNumber() >= 3;
  });
}
