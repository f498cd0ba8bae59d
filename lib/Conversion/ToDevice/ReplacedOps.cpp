//===- ReplacedOps.cpp - Which passes replace what is not lowered ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text that a person has written may lack a pass. The errors about what is left
// of it name that pass.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Conversion/ToDevice/Passes.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;

llvm::StringRef gpuopt::passThatReplaces(Operation *op) {
  if (op->getName().getDialectNamespace() == "onnx")
    return "convert-onnx-to-nn";
  if (isFusible(op))
    return "kernels-form-clusters";
  return llvm::TypeSwitch<Operation *, llvm::StringRef>(op)
      .Case<nn::PadOp>([](auto) { return "nn-absorb-layouts"; })
      .Case<nn::SoftmaxOp, nn::LogSoftmaxOp, nn::LayerNormOp, nn::BatchNormOp,
            nn::ConvBatchNormOp, nn::DropoutOp, nn::CrossEntropyOp>(
          [](auto) { return "nn-decompose"; })
      .Case<train::SeedOp>([](auto) { return "train-insert-loss-scaling"; })
      .Case<train::RecomputeOp>([](auto) { return "train-plan-memory"; })
      .Default([](auto) { return ""; });
}
