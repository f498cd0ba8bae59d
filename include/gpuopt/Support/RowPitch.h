//===- RowPitch.h - How far apart rows of tensors lie -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The row pitch of a tensor is the number of elements from the beginning of a
// row, along its last dimension, to that of the next one. Most tensors are
// dense: the pitch is the size of the last dimension. A larger pitch is the
// encoding of the type:
//
//   tensor<64x1024x50257xf16, {row_pitch = 50304 : i64}>
//
// What lies between rows, the pad, belongs to the tensor's memory, but nobody
// may use what is in it.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_ROWPITCH_H
#define GPUOPT_SUPPORT_ROWPITCH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace gpuopt {

/// Returns the size of the last dimension; 1 of a scalar.
inline int64_t rowSizeOf(mlir::RankedTensorType type) {
  return type.getRank() == 0 ? 1 : type.getShape().back();
}

/// Returns the strides of a tensor whose rows begin `pitch` elements apart.
inline llvm::SmallVector<int64_t> stridesOfRows(llvm::ArrayRef<int64_t> sizes,
                                                int64_t pitch) {
  llvm::SmallVector<int64_t> strides(sizes.size(), 1);
  for (int64_t dim = (int64_t)sizes.size() - 2, stride = pitch; dim >= 0;
       --dim) {
    strides[dim] = stride;
    stride *= sizes[dim];
  }
  return strides;
}

/// Returns the number in an encoding that is a row pitch and nothing else, or
/// 0.
inline int64_t encodedRowPitch(mlir::Attribute encoding) {
  auto members = mlir::dyn_cast_or_null<mlir::DictionaryAttr>(encoding);
  auto pitch = members && members.size() == 1
                   ? members.getAs<mlir::IntegerAttr>("row_pitch")
                   : mlir::IntegerAttr();
  return pitch ? pitch.getInt() : 0;
}

/// Returns the elements from one row to the next.
inline int64_t rowPitchOf(mlir::RankedTensorType type) {
  int64_t encoded = encodedRowPitch(type.getEncoding());
  return encoded ? encoded : rowSizeOf(type);
}

/// Returns the strides of a tensor in its own memory.
inline llvm::SmallVector<int64_t> stridesInMemory(mlir::RankedTensorType type) {
  return stridesOfRows(type.getShape(), rowPitchOf(type));
}

/// Returns the same tensor as a dense one.
inline mlir::RankedTensorType withoutRowPitch(mlir::RankedTensorType type) {
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType());
}

/// Returns a tensor of at least two dimensions with the rows `pitch` elements
/// apart.
inline mlir::RankedTensorType withRowPitch(mlir::RankedTensorType type,
                                           int64_t pitch) {
  if (pitch == rowSizeOf(type))
    return withoutRowPitch(type);
  mlir::Builder b(type.getContext());
  return mlir::RankedTensorType::get(
      type.getShape(), type.getElementType(),
      b.getDictionaryAttr(
          b.getNamedAttr("row_pitch", b.getI64IntegerAttr(pitch))));
}

/// Whether the encoding is either none or a row pitch that is larger than a
/// row.
inline bool hasValidRowPitch(mlir::RankedTensorType type) {
  return !type.getEncoding() ||
         (type.getRank() >= 2 &&
          encodedRowPitch(type.getEncoding()) > rowSizeOf(type));
}

/// Whether two types are equal but for their row pitches.
inline bool isSameButForPitch(mlir::Type a, mlir::Type b) {
  auto left = mlir::dyn_cast<mlir::RankedTensorType>(a),
       right = mlir::dyn_cast<mlir::RankedTensorType>(b);
  return a == b ||
         (left && right && hasValidRowPitch(left) && hasValidRowPitch(right) &&
          withoutRowPitch(left) == withoutRowPitch(right));
}

/// Returns the elements from the beginning of a tensor's memory to its end,
/// with the pads.
inline int64_t elementsInMemory(mlir::RankedTensorType type) {
  int64_t size = rowSizeOf(type);
  return size == 0 ? 0 : type.getNumElements() / size * rowPitchOf(type);
}

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_ROWPITCH_H
