//===- PlacedInputs.cpp - Inputs that lie in outputs ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/PlacedInputs.h"

#include "gpuopt/Analysis/Memory/StepMemory.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the kernel that does nothing but copy `value`, all of it, and is the
/// only one that reads it.
static nn::FusedOp onlyCopyOf(Value value) {
  if (!value.hasOneUse())
    return {};
  auto kernel = dyn_cast<nn::FusedOp>(*value.user_begin());
  if (!kernel || kernel.getInputs().size() != 1 ||
      kernel.getNumResults() != 1 ||
      kernel.getResult(0).getType() != value.getType() ||
      operandInPlace(kernel->getResult(0)))
    return {};
  Block &body = kernel.getBody().front();
  auto yield = cast<nn::YieldOp>(body.getTerminator());
  return yield->getOperand(0) == body.getArgument(0) ? kernel : nn::FusedOp();
}

SmallVector<PlacedInput> gpuopt::findPlacedInputs(train::StepOp step) {
  SmallVector<PlacedInput> placed;
  llvm::DenseMap<Value, train::OutputOp> outputOf = outputsInPlace(step);
  for (BlockArgument input : step.getBody().getArguments()) {
    nn::FusedOp copy = onlyCopyOf(input);
    if (!copy || !copy.getResult(0).hasOneUse())
      continue;
    OpOperand &use = *copy.getResult(0).use_begin();
    auto concat = dyn_cast<nn::ConcatOp>(use.getOwner());
    if (!concat || use.getOperandNumber() != 0)
      continue;
    train::OutputOp output = outputOf.lookup(concat.getResult());
    if (output &&
        cast<ShapedType>(output.getValue().getType()).getShape() ==
            concat.getType().getShape() &&
        destinationOf(copy.getResult(0)).buffer == concat.getResult())
      placed.push_back({input, output, copy});
  }
  return placed;
}
