//===- InPlaceResults.h - Results that take an operand's place --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may write a result over an operand that nothing reads afterwards
// where each of its threads has read an element before any writes it:
// elementwise kernels, which visit every element once, and kernels that reduce
// rows, where a block walks over a row of its own and writes in a walk after
// which the operand is read no more (RowWalks in Conversion/ToDevice).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_INPLACERESULTS_H
#define GPUOPT_ANALYSIS_INPLACERESULTS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt {

/// For each result the operand whose place it can take, or -1. Each operand is
/// in a list once at most, is dense memory of its own that the step's arena
/// holds, and has no other reader.
llvm::SmallVector<int64_t> chooseInPlace(nn::FusedOp op);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_INPLACERESULTS_H
