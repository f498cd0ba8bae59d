//===- Padding.cpp - What surrounds tensors -------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

/// Returns which element each result is; beyond the ends, elements count as
/// `mode` says.
static std::optional<SmallVector<int64_t>>
paddedIndices(StringRef mode, int64_t size, int64_t low, int64_t high) {
  SmallVector<int64_t> indices;
  for (int64_t i = -low; i < size + high; ++i) {
    int64_t period = std::max<int64_t>(1, 2 * (size - 1));
    int64_t at = ((i % period) + period) % period;
    if (mode == "edge")
      indices.push_back(std::clamp<int64_t>(i, 0, size - 1));
    else if (mode == "wrap")
      indices.push_back(((i % size) + size) % size);
    else if (mode == "reflect")
      indices.push_back(at < size ? at : period - at);
    else
      return std::nullopt;
  }
  return indices;
}

static LogicalResult padWithElements(NodeConversion &c, StringRef mode,
                                     ArrayRef<int64_t> low,
                                     ArrayRef<int64_t> high) {
  Value result = c.input(0);
  for (int64_t dim = 0; dim < c.type(0).getRank(); ++dim) {
    int64_t size = c.type(0).getDimSize(dim);
    if (!low[dim] && !high[dim])
      continue;
    if (size == 0)
      return c.fail("dimension " + Twine(dim) +
                    " has no elements, which mode '" + mode +
                    "' repeats: expects one or more");
    if (!c.canCompute(size + low[dim] + high[dim]))
      return failure();
    auto indices = paddedIndices(mode, size, low[dim], high[dim]);
    if (!indices)
      return c.fail("attribute mode = '" + mode + "' is not supported");
    result = pick(c.b, result, dim, *indices);
  }
  return c.yield(result);
}

/// Returns the number to pad with; notes the problem if it is no constant.
static std::optional<TypedAttr> padValue(NodeConversion &c) {
  Type element = c.type(0).getElementType();
  if (!c.has(2))
    return cast<TypedAttr>(c.b.getZeroAttr(element));
  DenseElementsAttr value = constantOf(c.input(2));
  if (value && value.getNumElements() == 1)
    return cast<TypedAttr>(*value.getValues<Attribute>().begin());
  c.problem = "operand 2 (constant_value) must be a constant of one element, "
              "but has shape " +
              shapesText(c.b, {c.input(2)}) +
              (value ? "" : " and is no constant" + c.whatDecides(2));
  return std::nullopt;
}

/// Surrounds x with `value`; where a pad is negative, elements are cut off.
static Value padded(nn::TensorBuilder &b, Value x, ArrayRef<int64_t> low,
                    ArrayRef<int64_t> high, TypedAttr value) {
  int64_t rank = low.size();
  SmallVector<int64_t> offsets(rank, 0), sizes(b.shape(x)), ones(rank, 1),
      more(rank, 0), after(rank, 0);
  for (int64_t dim = 0; dim < rank; ++dim) {
    // Pads may cut off more than there is on one side.
    int64_t begin = std::clamp<int64_t>(-low[dim], 0, sizes[dim]);
    int64_t end =
        std::clamp<int64_t>(sizes[dim] + high[dim], begin, sizes[dim]);
    int64_t wanted = sizes[dim] + low[dim] + high[dim];
    offsets[dim] = begin;
    sizes[dim] = end - begin;
    more[dim] = std::clamp<int64_t>(low[dim], 0, wanted);
    after[dim] = wanted - more[dim] - sizes[dim];
  }
  x = b.createOrFold<nn::SliceOp>(x, offsets, sizes, ones);
  if (isa<FloatType>(value.getType()))
    return b.create<nn::PadOp>(x, more, after, SmallVector<int64_t>(rank, 0),
                               value);
  // Concatenations of constants fold.
  for (int64_t dim = 0; dim < rank; ++dim) {
    SmallVector<Value> parts;
    auto fill = [&](int64_t size) {
      SmallVector<int64_t> shape(b.shape(x));
      shape[dim] = size;
      auto type = RankedTensorType::get(shape, value.getType());
      if (size > 0)
        parts.push_back(b.create<arith::ConstantOp>(
            DenseElementsAttr::get(type, Attribute(value))));
    };
    fill(more[dim]);
    parts.push_back(x);
    fill(after[dim]);
    x = b.createOrFold<nn::ConcatOp>(parts, dim);
  }
  return x;
}

/// Whether the compiler may pad a constant of integers to this shape, each of
/// whose elements it then has; notes the problem if not.
static bool canFold(NodeConversion &c, ArrayRef<int64_t> shape) {
  return c.isFloat(0) || !constantOf(c.input(0)) ||
         c.canCompute(ShapedType::getNumElements(shape));
}

static LogicalResult pad(NodeConversion &c) {
  StringRef mode = c.node.getString("mode", "constant");
  auto pads = c.constantInts(1);
  if (!pads)
    return failure();
  int64_t rank = c.type(0).getRank();
  std::optional<SmallVector<int64_t>> axes;
  if (c.has(3) && !(axes = axesOf(c, 3, rank)))
    return failure();
  SmallVector<int64_t> low(rank, 0), high(rank, 0);
  SmallVector<int64_t> shape(c.type(0).getShape());
  size_t count = axes ? axes->size() : rank;
  if (pads->size() != 2 * count)
    return c.fail("operand 1 (pads) must have " + Twine(2 * count) +
                  " numbers, two for each " + (axes ? "axis" : "dimension") +
                  ", but has " + Twine(pads->size()));
  for (size_t i = 0; i < count; ++i) {
    int64_t dim = axes ? (*axes)[i] : i;
    low[dim] = (*pads)[i];
    high[dim] = (*pads)[count + i];
    auto isTooLarge = [](int64_t pad) {
      return pad < -kMostElements || pad > kMostElements;
    };
    if (isTooLarge(low[dim]) || isTooLarge(high[dim]))
      return c.fail("the pads " + Twine(low[dim]) + " and " + Twine(high[dim]) +
                    " of dimension " + Twine(dim) +
                    " must lie between -2^48 and 2^48");
    shape[dim] += low[dim] + high[dim];
  }
  if (!c.isShape(shape))
    return failure();
  if (mode != "constant")
    return padWithElements(c, mode, low, high);
  auto value = padValue(c);
  if (!canFold(c, shape))
    return failure();
  return value ? c.yield(padded(c.b, c.input(0), low, high, *value))
               : failure();
}

/// Cuts out the middle of dimensions that are too large, and surrounds those
/// that are too small with zeros.
static LogicalResult centerCropPad(NodeConversion &c) {
  auto sizes = c.constantInts(1);
  int64_t rank = c.type(0).getRank();
  auto axes =
      c.node.getInts("axes", llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (!sizes || !c.isShape(*sizes))
    return failure();
  if (axes.size() != sizes->size())
    return c.fail("operand 1 must have a size for each of the axes");
  SmallVector<int64_t> low(rank, 0), high(rank, 0), shape(c.type(0).getShape());
  for (auto [given, size] : llvm::zip(axes, *sizes)) {
    auto axis = c.axis(given, rank);
    if (!axis)
      return failure();
    int64_t more = size - c.type(0).getDimSize(*axis);
    // What is odd is cut off, or added, at the end.
    low[*axis] = more < 0 ? -(-more / 2) : more / 2;
    high[*axis] = more - low[*axis];
    shape[*axis] = size;
  }
  if (!c.isShape(shape) || !canFold(c, shape))
    return failure();
  TypedAttr zero = cast<TypedAttr>(c.b.getZeroAttr(c.type(0).getElementType()));
  return c.yield(padded(c.b, c.input(0), low, high, zero));
}

ArrayRef<OperatorEntry> gpuopt::paddingOperators() {
  static const OperatorEntry entries[] = {
      {"CenterCropPad", centerCropPad, "constant shape"}, {"Pad", pad}};
  return entries;
}
