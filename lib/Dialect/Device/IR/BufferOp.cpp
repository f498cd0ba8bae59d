//===- BufferOp.cpp - Ranges of the allocation ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Device/IR/Gradients.h"
#include "gpuopt/Support/Origin.h"
#include "gpuopt/Support/RowPitch.h"
#include "gpuopt/Support/TensorSize.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::device;

int64_t BufferOp::getSizeInBytes() {
  return sizeInBytes(cast<RankedTensorType>(getType()));
}
int64_t BufferOp::getOffsetOf(int64_t element) {
  auto type = cast<RankedTensorType>(getType());
  return (int64_t)getOffset() + element * elementSizeInBytes(type);
}
int64_t BufferOp::getElementsInMemory() {
  return elementsInMemory(cast<RankedTensorType>(getType()));
}
int64_t BufferOp::getRowPitch() {
  return rowPitchOf(cast<RankedTensorType>(getType()));
}

LogicalResult BufferOp::verify() {
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.hasStaticShape() ||
      !type.getElementType().isIntOrFloat() || !hasValidPads(type)) // (C1)
    return emitOpError("expects a statically shaped tensor type, but got ")
           << getType();
  int64_t bits = type.getElementTypeBitWidth(),
          end = std::max<int64_t>(bits, 8);
  bool overflows = (int64_t)getOffset() < 0;
  for (int64_t extent : extentsInMemory(type))
    overflows |= llvm::MulOverflow(end, extent, end);
  overflows |= llvm::AddOverflow(end / 8, (int64_t)getOffset(), end);
  if (overflows) // (C2)
    return emitOpError("expects to lie within 63 bits, but got ")
           << type << " at " << (int64_t)getOffset();
  if ((int64_t)getResultNumber().value_or(0) < 0) // (C3)
    return emitOpError("expects a 'resultNumber' of at least 0, but got ")
           << (int64_t)*getResultNumber();
  return success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &symbolTable) {
  FlatSymbolRefAttr name = getPlacedInAttr();
  if (!name)
    return success();
  auto of = symbolTable.lookupNearestSymbolFrom<BufferOp>(getOperation(), name);
  auto type = cast<RankedTensorType>(getType());
  auto whole = of ? cast<RankedTensorType>(of.getType()) : type;
  SmallVector<int64_t> sizes(type.getShape());
  for (auto [size, larger] : llvm::zip(sizes, whole.getShape()))
    if (size < larger) {
      size = larger;
      break;
    }
  if (whole != type && whole == type.clone(sizes) &&
      getKind() == BufferKind::Input && of.getKind() == BufferKind::Output)
    return success(); // (C4)
  return emitOpError("expects to be an input, placed in an output that is "
                     "larger than ")
         << type << " in one dimension, but is placed in " << name;
}

bool gpuopt::device::isGradient(BufferOp buffer) {
  return isGradientOrigin(buffer.getOrigin());
}

bool gpuopt::device::isGradientOrigin(StringRef origin) {
  return Origin::parse(origin).isGradient;
}
