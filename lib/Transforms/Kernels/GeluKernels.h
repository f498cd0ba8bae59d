//===- GeluKernels.h - GELUs that follow products ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_TRANSFORMS_KERNELS_GELUKERNELS_H
#define GPUOPT_LIB_TRANSFORMS_KERNELS_GELUKERNELS_H

#include "ColumnSums.h"

namespace gpuopt {

/// A kernel whose one result is the approximate GELU of a product, or of the
/// product and a bias, which is null if there is none.
struct GeluKernel {
  nn::ContractOp product;
  nn::FusedOp kernel;
  mlir::Value bias;
  /// The other kernels that read the product, each for its sum with the bias.
  llvm::SmallVector<nn::FusedOp> readers;
};

/// Returns the GELU that follows a product, if nothing else reads the product
/// but kernels that read its sum with the same bias.
std::optional<GeluKernel> geluOf(nn::ContractOp product);

/// Replaces the product and its bias by their sum in a kernel that reads them.
void readSum(nn::FusedOp reader, GeluKernel &gelu, mlir::Value sum);

/// A kernel that multiplies a product, which nothing else reads, with the
/// derivative of a GELU, and may add up the columns of the result.
struct GeluGradientKernel {
  nn::ContractOp product;
  nn::FusedOp kernel;
  mlir::OpResult result;
  mlir::OpResult sums; ///< Over all rows; null if there are none.
};

/// Returns what a reader of a GELU's input is, if it is its gradient alone.
std::optional<GeluGradientKernel> gradientOf(GeluKernel &gelu,
                                             nn::FusedOp reader);

} // namespace gpuopt

#endif // GPUOPT_LIB_TRANSFORMS_KERNELS_GELUKERNELS_H
