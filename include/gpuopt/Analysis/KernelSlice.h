//===- KernelSlice.h - What one result of a kernel needs --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To have one result of a kernel again, the whole kernel need not run again:
// the elementwise work that leads to it is enough, from the kernel's operands
// and from its other results. The values are the same to the last bit, which
// is why reductions are never part of a slice: the order of a sum follows from
// the shape of the whole kernel.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELSLICE_H
#define GPUOPT_ANALYSIS_KERNELSLICE_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include <optional>

namespace gpuopt {

struct KernelSlice {
  llvm::SmallVector<mlir::Operation *> ops; ///< Of the body, in its order.
  llvm::SmallVector<unsigned> inputs;       ///< Operands that it reads.
  llvm::SmallVector<unsigned> results;      ///< Other results that it reads.
};

/// The slice for a result, or nothing where the whole kernel has to run: where
/// the slice would reduce, or be the whole.
std::optional<KernelSlice> sliceFor(nn::FusedOp op, unsigned result);

/// The results in the order in which the body makes them, and so one that is
/// made from another after it; of any other op, as they are.
llvm::SmallVector<mlir::OpResult> resultsInOrder(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELSLICE_H
