//===- ColumnValues.h - What the rows of a column share ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_TODEVICE_COLUMNVALUES_H
#define GPUOPT_LIB_CONVERSION_TODEVICE_COLUMNVALUES_H

#include "gpuopt/Analysis/Kernels/KernelShape.h"

namespace gpuopt {

/// Returns the values that a kernel which adds up columns computes once for
/// each column and uses in every row, such as the reciprocal of a standard
/// deviation. Returns nothing if the kernel should go down its columns: it
/// reduces by something else than sums of 32 or 64 bits, or some rows, but not
/// all, share what is dear to compute.
std::optional<llvm::SmallVector<mlir::Value>>
columnValuesOf(mlir::Block &body, const KernelShape &shape);

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_TODEVICE_COLUMNVALUES_H
