//===- PlacedInputs.h - Inputs that lie in outputs --------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_PLACEDINPUTS_H
#define GPUOPT_ANALYSIS_MEMORY_PLACEDINPUTS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {

/// An input that a forward reads in one kernel alone, which copies it to the
/// beginning of an output, as it does the earlier keys and values of a cache.
struct PlacedInput {
  mlir::BlockArgument input;
  train::OutputOp output;
  nn::FusedOp copy;
};

/// Finds the inputs of a step of which an output is a concatenation that begins
/// with them, in the memory of that output. A program that keeps the output
/// where it is need not copy them again.
llvm::SmallVector<PlacedInput> findPlacedInputs(train::StepOp step);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_PLACEDINPUTS_H
