//===- RowPitch.h - Memory between and behind rows of tensors ---*- C++ -*-===//
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
// A matrix may also have spare rows behind its last one, and the encoding may
// say that pads and spare rows hold zeros, so that sums may run over them:
//
//   tensor<50257x768xf16, {spare_rows = 47 : i64, zeros}>
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_SUPPORT_ROWPITCH_H
#define GPUOPT_SUPPORT_ROWPITCH_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

namespace gpuopt {

/// Returns the size of the last dimension; 1 of a scalar.
inline int64_t rowSizeOf(mlir::RankedTensorType type) {
  return type.getRank() == 0 ? 1 : type.getShape().back();
}

/// Returns how far apart rows of `size` elements in half precision should lie
/// where products read them: full lines of the cache if these add little, or
/// whole vectors; `size` where rows are aligned or too short for a pad.
inline int64_t pitchFor(int64_t size) {
  constexpr int64_t kCacheLine = 64, kVector = 8; // halves
  constexpr int64_t kMostPad = 16;                // 1/16 of a row
  if (size % kVector == 0)
    return size;
  for (int64_t multiple : {kCacheLine, kVector})
    if (int64_t pitch = llvm::alignTo(size, multiple);
        (pitch - size) * kMostPad <= size)
      return pitch;
  return size;
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

/// What the encoding of a type says of memory that no element lies in.
struct Pads {
  int64_t rowPitch = 0;  ///< 0 of dense rows.
  int64_t spareRows = 0; ///< Behind the last row.
  bool areZeros = false; ///< Whether all of that memory holds zeros.
};

/// Returns what an encoding says; nothing of one that says something else.
inline std::optional<Pads> padsIn(mlir::Attribute encoding) {
  Pads pads;
  if (!encoding)
    return pads;
  auto members = mlir::dyn_cast<mlir::DictionaryAttr>(encoding);
  if (!members)
    return std::nullopt;
  for (mlir::NamedAttribute member : members) {
    auto number = mlir::dyn_cast<mlir::IntegerAttr>(member.getValue());
    if (member.getName() == "row_pitch" && number)
      pads.rowPitch = number.getInt();
    else if (member.getName() == "spare_rows" && number)
      pads.spareRows = number.getInt();
    else if (member.getName() == "zeros" &&
             mlir::isa<mlir::UnitAttr>(member.getValue()))
      pads.areZeros = true;
    else
      return std::nullopt;
  }
  return pads;
}
inline Pads padsOf(mlir::RankedTensorType type) {
  return padsIn(type.getEncoding()).value_or(Pads());
}

/// Returns the elements from one row to the next.
inline int64_t rowPitchOf(mlir::RankedTensorType type) {
  int64_t encoded = padsOf(type).rowPitch;
  return encoded ? encoded : rowSizeOf(type);
}

/// Returns the strides of a tensor in its own memory.
inline llvm::SmallVector<int64_t> stridesInMemory(mlir::RankedTensorType type) {
  return stridesOfRows(type.getShape(), rowPitchOf(type));
}

/// Returns how far each dimension goes on in the tensor's own memory with the
/// same stride: rows to the end of their pads, and columns through spare rows.
inline llvm::SmallVector<int64_t> extentsInMemory(mlir::RankedTensorType type) {
  llvm::SmallVector<int64_t> extents(type.getShape());
  if (extents.empty())
    return extents;
  extents.back() = rowPitchOf(type);
  extents.front() += padsOf(type).spareRows;
  return extents;
}

/// Returns the same tensor without pads and spare rows.
inline mlir::RankedTensorType withoutPads(mlir::RankedTensorType type) {
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType());
}

/// Returns a tensor of at least two dimensions with these pads alone.
inline mlir::RankedTensorType withPads(mlir::RankedTensorType type,
                                       const Pads &pads) {
  mlir::Builder b(type.getContext());
  llvm::SmallVector<mlir::NamedAttribute> members;
  if (pads.rowPitch)
    members.push_back(
        b.getNamedAttr("row_pitch", b.getI64IntegerAttr(pads.rowPitch)));
  if (pads.spareRows)
    members.push_back(
        b.getNamedAttr("spare_rows", b.getI64IntegerAttr(pads.spareRows)));
  if (members.empty())
    return withoutPads(type);
  if (pads.areZeros)
    members.push_back(b.getNamedAttr("zeros", b.getUnitAttr()));
  return mlir::RankedTensorType::get(type.getShape(), type.getElementType(),
                                     b.getDictionaryAttr(members));
}

/// Returns a tensor of at least two dimensions with the rows `pitch` elements
/// apart, and nothing behind them.
inline mlir::RankedTensorType withRowPitch(mlir::RankedTensorType type,
                                           int64_t pitch) {
  Pads pads;
  if (pitch != rowSizeOf(type))
    pads.rowPitch = pitch;
  return withPads(type, pads);
}

/// Whether the encoding is either none or has a row pitch that is larger than a
/// row, or at most as many spare rows as a matrix has rows, or both.
inline bool hasValidPads(mlir::RankedTensorType type) {
  if (!type.getEncoding())
    return true;
  std::optional<Pads> pads = padsIn(type.getEncoding());
  if (!pads || type.getRank() < 2 || (!pads->rowPitch && !pads->spareRows))
    return false;
  bool isPitch = !pads->rowPitch || pads->rowPitch > rowSizeOf(type),
       areSpare =
           !pads->spareRows || (type.getRank() == 2 && pads->spareRows > 0 &&
                                pads->spareRows <= type.getDimSize(0));
  return isPitch && areSpare;
}

/// Whether two types are equal but for their pads and spare rows.
inline bool isSameButForPads(mlir::Type a, mlir::Type b) {
  auto left = mlir::dyn_cast<mlir::RankedTensorType>(a),
       right = mlir::dyn_cast<mlir::RankedTensorType>(b);
  return a == b ||
         (left && right && hasValidPads(left) && hasValidPads(right) &&
          withoutPads(left) == withoutPads(right));
}

/// Returns the elements from the beginning of a tensor's memory to its end,
/// with pads and spare rows.
inline int64_t elementsInMemory(mlir::RankedTensorType type) {
  int64_t size = rowSizeOf(type);
  return size == 0 ? 0
                   : (type.getNumElements() / size + padsOf(type).spareRows) *
                         rowPitchOf(type);
}

} // namespace gpuopt

#endif // GPUOPT_SUPPORT_ROWPITCH_H
