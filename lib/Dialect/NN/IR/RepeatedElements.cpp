//===- RepeatedElements.cpp - What constants repeat -----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/RepeatedElements.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;

namespace {

/// The elements of a constant by their bits, with their dimensions.
class Elements {
public:
  explicit Elements(DenseElementsAttr value) : type(value.getType()) {
    shape = llvm::to_vector(type.getShape());
    bits.reserve(type.getNumElements());
    if (isa<FloatType>(type.getElementType()))
      for (const APFloat &number : value.getValues<APFloat>())
        bits.push_back(number.bitcastToAPInt());
    else
      llvm::append_range(bits, value.getValues<APInt>());
  }

  void dropRepeats() {
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (shape[dim] > 1 && repeats(dim))
        keepFirst(dim);
  }

  DenseElementsAttr toAttribute() {
    ShapedType result = type.clone(shape);
    auto floatType = dyn_cast<FloatType>(type.getElementType());
    if (!floatType)
      return DenseElementsAttr::get(result, bits);
    std::vector<APFloat> numbers;
    for (const APInt &number : bits)
      numbers.emplace_back(floatType.getFloatSemantics(), number);
    return DenseElementsAttr::get(result, numbers);
  }

private:
  int64_t sizeBehind(unsigned dim) const {
    int64_t size = 1;
    for (int64_t behind : ArrayRef(shape).drop_front(dim + 1))
      size *= behind;
    return size;
  }
  bool repeats(unsigned dim) const {
    int64_t row = sizeBehind(dim), slab = row * shape[dim];
    for (size_t first = 0; first < bits.size(); first += slab)
      for (int64_t i = row; i < slab; ++i)
        if (bits[first + i] != bits[first + i - row])
          return false;
    return true;
  }
  void keepFirst(unsigned dim) {
    int64_t row = sizeBehind(dim), slab = row * shape[dim];
    std::vector<APInt> kept;
    for (size_t first = 0; first < bits.size(); first += slab)
      kept.insert(kept.end(), bits.begin() + first, bits.begin() + first + row);
    bits = std::move(kept);
    shape[dim] = 1;
  }

  ShapedType type;
  SmallVector<int64_t> shape;
  std::vector<APInt> bits;
};

} // namespace

DenseElementsAttr gpuopt::nn::withoutRepeats(DenseElementsAttr value) {
  ShapedType type = value.getType();
  if (type.getNumElements() <= 1)
    return value;
  if (value.isSplat())
    return value.resizeSplat(
        type.clone(SmallVector<int64_t>(type.getRank(), 1)));
  Elements elements(value);
  elements.dropRepeats();
  return elements.toAttribute();
}
