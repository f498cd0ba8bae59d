//===- StridedView.h - A strided window on memory ---------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_INTERFACES_STRIDEDVIEW_H
#define GPUOPT_INTERFACES_STRIDEDVIEW_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

namespace gpuopt {

/// A value as a strided window on a buffer, the memory that another value owns:
/// element (i0, i1, ...) lies `offset + i0 * strides[0] + ...` elements after
/// the buffer's first.
struct StridedView {
  mlir::Value buffer; ///< The value that owns it.
  int64_t offset = 0;
  llvm::SmallVector<int64_t> sizes, strides;
  /// How far each dimension goes on with its stride, through memory that holds
  /// no elements and is nobody else's. Empty if no further than `sizes`.
  llvm::SmallVector<int64_t> extents = {};
  bool hasZeroPads = false; ///< Whether that memory holds zeros.

  /// Whether the elements are in row-major order without gaps or repetition,
  /// beginning at `offset`.
  bool isDense() const;

  /// Whether the strides are these, but for dimensions of size 1.
  bool hasStrides(llvm::ArrayRef<int64_t> expected) const;
};

/// Returns the row-major strides of a dense tensor.
llvm::SmallVector<int64_t> denseStrides(llvm::ArrayRef<int64_t> sizes);

} // namespace gpuopt

#endif // GPUOPT_INTERFACES_STRIDEDVIEW_H
