//===- KernelShape.h - The loops of one kernel ------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_ANALYSIS_KERNELS_KERNELSHAPE_H
#define GPUOPT_ANALYSIS_KERNELS_KERNELSHAPE_H

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "llvm/ADT/MapVector.h"

namespace gpuopt {

/// A loop of a kernel: neighbouring dimensions of the iteration space that
/// every access steps through as if they were one.
struct LoopDim {
  int64_t size = 1;
  bool isReduced = false;
  llvm::SmallVector<int64_t> dims; ///< Dimensions of the iteration space.
};

/// The position of an element as an affine function of the loops' indices.
struct AffineAccess {
  int64_t offset = 0;
  llvm::SmallVector<int64_t>
      strides; ///< One per loop; 0 if the position does not vary in it.
  /// Elements from the result of an nn.partial_sum for one part of the rows to
  /// that for the next; 0 for all other accesses.
  int64_t partStride = 0;
};

/// The position of the index that an nn.take reads, and of the elements in the
/// row that it picks.
struct Gather {
  AffineAccess index, row;
  int64_t rowStride = 0; ///< Elements from one row to the next.
};

/// The iteration space of an nn.fused and the accesses in it.
struct KernelShape {
  llvm::SmallVector<LoopDim> loops; ///< The last one is walked by lanes.
  int64_t parts = 0; ///< Of the rows, in an nn.partial_sum; 0 without any.
  llvm::DenseMap<mlir::Operation *, Gather> gathers; ///< By nn.take.
  /// The accesses to arguments that are read element by element; to results, by
  /// the position of the yielded value; and of nn.iota and nn.random_uniform,
  /// whose value is the position itself.
  llvm::DenseMap<mlir::Value, AffineAccess> arguments;
  llvm::SmallVector<AffineAccess> results;
  llvm::DenseMap<mlir::Value, AffineAccess> positions;
  /// Where operands and then results begin, in elements behind the beginning of
  /// the buffers that they lie in.
  llvm::SmallVector<int64_t> origins;
  /// For each value, the loops over which its shape varies.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<bool>> varies;
};

/// Returns the shape of a kernel; `operandViews` and `resultViews` say where
/// its operands and results lie.
KernelShape kernelShape(nn::FusedOp op,
                        llvm::ArrayRef<StridedView> operandViews,
                        llvm::ArrayRef<StridedView> resultViews);

/// Whether a value of a kernel varies along a loop that is reduced.
bool variesAlongReduced(const KernelShape &shape, mlir::Value value);

} // namespace gpuopt

#endif // GPUOPT_ANALYSIS_KERNELS_KERNELSHAPE_H
