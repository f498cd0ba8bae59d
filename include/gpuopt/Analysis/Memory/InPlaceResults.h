//===- InPlaceResults.h - Results that take an operand's place --*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel may write a result over an operand that nothing reads afterwards, if
// every element is read before any thread overwrites it. Two kinds of kernels
// do so: elementwise kernels, which visit every element once, and kernels that
// reduce rows, in which a block walks over a row of its own, and writes in a
// walk after which the operand is not read again (RowWalks.h).
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_MEMORY_INPLACERESULTS_H
#define GPUOPT_ANALYSIS_MEMORY_INPLACERESULTS_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"

namespace gpuopt {

/// Returns for each result the operand that it can overwrite, or -1. No operand
/// is in the list twice. Each is dense memory of its own in the step's arena,
/// and has no other reader.
llvm::SmallVector<int64_t> chooseInPlace(nn::FusedOp op);

/// Whether a kernel reads each element of the operand that `result` overwrites,
/// if there is one, before it writes that of the result.
bool isReadBeforeWritten(nn::FusedOp op, unsigned result);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_MEMORY_INPLACERESULTS_H
