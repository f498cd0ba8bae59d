//===- KernelSlice.h - What one result of a kernel needs --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// To compute one result of a kernel again, it is enough to run its slice: the
// elementwise work that leads from the kernel's operands and its other results
// to this one. The values must be the same to the last bit. Therefore
// reductions are never part of a slice, because the order of a sum depends on
// the shape of the whole kernel.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_KERNELSLICE_H
#define GPUOPT_ANALYSIS_KERNELS_KERNELSLICE_H

#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include <optional>

namespace gpuopt {

struct KernelSlice {
  llvm::SmallVector<mlir::Operation *> ops; ///< Ops of the body, in its order.
  llvm::SmallVector<unsigned> inputs;       ///< Operands that it reads.
  llvm::SmallVector<unsigned> results;      ///< Other results that it reads.
};

/// Returns the slice for a result. Returns nothing if the whole kernel has to
/// run, because the slice would contain a reduction or the whole kernel.
std::optional<KernelSlice> sliceFor(nn::FusedOp op, unsigned result);

/// Returns the results of a kernel in the order in which its body makes them,
/// so that a result that is computed from another one comes after it. The
/// results of any other op come in their own order.
llvm::SmallVector<mlir::OpResult> resultsInOrder(mlir::Operation *op);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_KERNELSLICE_H
