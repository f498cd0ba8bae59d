//===- Rank.cpp - The largest elements, and where they are ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ArgMax, ArgMin and TopK give the index of an extreme value. The value is
// found first, by a reduction; its index is the least, or greatest, of the
// indices of the elements that equal it. In between, indices are floating-point
// numbers, which are exact up to 2^24. Where TopK wants many elements, or the
// numbers are integers of 64 bits, the order of all elements is computed.
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

namespace {

/// Finds the extremes of `x` along `axis`, one after the other.
class Search {
public:
  Search(nn::TensorBuilder &b, Value x, int64_t axis, bool largest)
      : b(b), x(x), axis(axis), largest(largest), type(b.type(x)),
        places(b.create<nn::IotaOp>(type.clone(b.getI64Type()), axis)),
        numbers(b.create<arith::SIToFPOp>(type, places)) {}

  /// Returns the index of the most extreme element that was not found before;
  /// among equal ones the first or the last.
  Value next(bool last = false) {
    using nn::ReductionKind;
    Value left = x;
    if (found)
      left = b.select(found, filled(largest ? -infinity : infinity), x);
    Value extreme =
        b.reduce(largest ? ReductionKind::Max : ReductionKind::Min, left, axis);
    Value isExtreme = b.compare(arith::CmpFPredicate::OEQ, x, extreme);
    if (found)
      isExtreme = b.createOrFold<arith::AndIOp>(isExtreme, isLeft());
    Value candidates =
        b.select(isExtreme, numbers, filled(last ? -1 : type.getDimSize(axis)));
    Value place = b.reduce(last ? ReductionKind::Max : ReductionKind::Min,
                           candidates, axis);
    // A row of NaN has no extreme, but its index must be within the row.
    place = b.createOrFold<arith::MaximumFOp>(place, b.splat(0, b.type(place)));
    place = b.createOrFold<arith::MinimumFOp>(
        place, b.splat(type.getDimSize(axis) - 1, b.type(place)));
    Value index =
        b.create<arith::FPToSIOp>(b.type(place).clone(b.getI64Type()), place);
    Value isIt = b.compare(arith::CmpIPredicate::eq, places, index);
    found = found ? b.createOrFold<arith::OrIOp>(found, isIt) : isIt;
    return index;
  }

private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  Value filled(double value) { return b.splat(value, type); }
  Value isLeft() {
    return b.createOrFold<arith::XOrIOp>(found, b.splat(-1, b.type(found)));
  }

  nn::TensorBuilder &b;
  Value x;
  int64_t axis;
  bool largest;
  RankedTensorType type;
  Value places, numbers;
  Value found; ///< Marks all found before; null at first.
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A search counts places in the operand's type.
static constexpr int64_t kLongestSearch = 1 << 24;

/// Returns the dimension to search; notes the problem if there is none.
static std::optional<int64_t> axisOf(NodeConversion &c, int64_t fallback) {
  auto axis = c.axis(c.node.getInt("axis", fallback), c.type(0).getRank());
  if (!axis)
    return std::nullopt;
  if (c.type(0).getDimSize(*axis) >= 1)
    return axis;
  c.problem = "dimension " + std::to_string(*axis) +
              " is empty, so that nothing in it is the largest or smallest";
  return std::nullopt;
}

/// Returns the numbers in a type in which they can be compared: all but f64 and
/// i64 become f32 or f64, which hold them exactly. NaN counts as infinite,
/// whether they are then sorted or searched.
static Value comparable(NodeConversion &c) {
  Type element = c.type(0).getElementType();
  unsigned width = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element)) {
    Value x = c.input(0);
    if (width < 32)
      x = c.b.create<arith::ExtFOp>(c.type(0).clone(c.b.getF32Type()), x);
    Value infinity =
        c.b.splat(std::numeric_limits<double>::infinity(), c.b.type(x));
    return c.b.select(c.b.compare(arith::CmpFPredicate::UNO, x, x), infinity,
                      x);
  }
  if (isa<IntegerType>(element) && width <= 32)
    return inDouble(c.b, c.input(0));
  return c.input(0);
}

static bool canSearch(nn::TensorBuilder &b, Value x, int64_t axis) {
  return isa<FloatType>(b.type(x).getElementType()) &&
         b.shape(x)[axis] <= kLongestSearch;
}

/// Returns the order in which the elements along `axis` are sorted.
static Value sortAlong(nn::TensorBuilder &b, Value x, int64_t axis,
                       bool descending) {
  auto toBack = llvm::to_vector(llvm::seq<int64_t>(0, b.type(x).getRank()));
  std::swap(toBack[axis], toBack.back());
  Value order = b.create<nn::ArgsortOp>(b.transpose(x, toBack), descending);
  return b.transpose(order, toBack); // a swap undoes itself
}

//===----------------------------------------------------------------------===//
// The operators
//===----------------------------------------------------------------------===//

Value gpuopt::findExtreme(nn::TensorBuilder &b, Value x, int64_t axis,
                          bool largest, bool last) {
  if (canSearch(b, x, axis))
    return Search(b, x, axis, largest).next(last);
  // Equal elements keep their order, so the last of the largest is the last in
  // ascending order.
  Value order = sortAlong(b, x, axis, largest != last);
  return partOf(b, order, axis, last ? b.shape(x)[axis] - 1 : 0, 1);
}

template <bool largest>
static LogicalResult argExtreme(NodeConversion &c) {
  auto axis = axisOf(c, 0);
  if (!axis)
    return failure();
  Value index = findExtreme(c.b, comparable(c), *axis, largest,
                            c.node.getInt("select_last_index", 0));
  if (c.node.getInt("keepdims", 1))
    return c.yield(index);
  SmallVector<int64_t> shape(c.b.shape(index));
  shape.erase(shape.begin() + *axis);
  return c.yield(c.b.reshape(index, shape));
}

/// Makes one search for each of a few elements, such as the experts of a
/// mixture, in which kernels are merged with others. A sort finds more.
static LogicalResult topK(NodeConversion &c) {
  constexpr int64_t kMostSearches = 16;
  auto axis = axisOf(c, -1);
  auto count = c.constantInt(1);
  if (!axis || !count)
    return failure();
  int64_t size = c.type(0).getDimSize(*axis);
  if (*count < 1 || *count > size)
    return c.fail("k = " + Twine(*count) + " must lie in 1 .. " + Twine(size) +
                  ", which the dimension has");
  bool largest = c.node.getInt("largest", 1);
  Value x = comparable(c), indices;
  if (*count <= kMostSearches && canSearch(c.b, x, *axis)) {
    Search search(c.b, x, *axis, largest);
    SmallVector<Value> found;
    for (int64_t i = 0; i < *count; ++i)
      found.push_back(search.next());
    indices = c.b.createOrFold<nn::ConcatOp>(found, *axis);
  } else {
    indices = partOf(c.b, sortAlong(c.b, x, *axis, largest), *axis, 0, *count);
  }
  c.outputs.push_back({{takeAlong(c.b, c.input(0), *axis, indices)}, false});
  c.outputs.push_back({{indices}, false});
  return success();
}

/// Gives 1 at the first of the largest elements, and 0 elsewhere.
static LogicalResult hardmax(NodeConversion &c) {
  if (c.node.getOpset() < 13)
    return c.fail("the form of opsets up to 12, which flattens the operand, is "
                  "not supported");
  auto axis = axisOf(c, -1);
  if (!axis)
    return failure();
  Value index = findExtreme(c.b, comparable(c), *axis, /*largest=*/true);
  Value places =
      c.b.create<nn::IotaOp>(c.type(0).clone(c.b.getI64Type()), *axis);
  return c.yield(
      c.b.toFloat(c.b.compare(arith::CmpIPredicate::eq, places, index),
                  c.type(0).getElementType()));
}

ArrayRef<OperatorEntry> gpuopt::rankOperators() {
  static const char nan[] = "NaN counts as infinite";
  static const OperatorEntry entries[] = {
      {"ArgMax", argExtreme<true>, nan},
      {"ArgMin", argExtreme<false>, nan},
      {"Hardmax", hardmax, "from opset 13 on"},
      {"TopK", topK, "constant k; NaN counts as infinite"}};
  return entries;
}
