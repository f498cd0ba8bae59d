//===- TensorSize.h - Bytes of tensors in device memory ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_TENSORSIZE_H
#define GPUOPT_SUPPORT_TENSORSIZE_H

#include "gpuopt/Support/RowPitch.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace gpuopt {

/// Every offset is a multiple of this, so that no library chooses its kernel by
/// alignment.
constexpr int64_t kBufferAlignment = 256;

/// Returns the bytes of an element in device memory; a boolean takes one.
inline int64_t elementSizeInBytes(mlir::RankedTensorType type) {
  return std::max<int64_t>(type.getElementTypeBitWidth() / 8, 1);
}

/// Returns the bytes of a tensor in device memory, with pads and spare rows.
inline int64_t sizeInBytes(mlir::RankedTensorType type) {
  return elementsInMemory(type) * elementSizeInBytes(type);
}
inline int64_t sizeInBytes(mlir::Value tensor) {
  return sizeInBytes(mlir::cast<mlir::RankedTensorType>(tensor.getType()));
}

/// Returns the bytes of a tensor up to where the next buffer can begin.
inline int64_t alignedSizeInBytes(mlir::RankedTensorType type) {
  return llvm::alignTo(sizeInBytes(type), kBufferAlignment);
}
inline int64_t alignedSizeInBytes(mlir::Value tensor) {
  return llvm::alignTo(sizeInBytes(tensor), kBufferAlignment);
}

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_TENSORSIZE_H
