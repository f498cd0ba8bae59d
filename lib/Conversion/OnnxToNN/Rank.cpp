//===- Rank.cpp - The largest elements, and where they are ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// ArgMax, ArgMin and TopK give the index of an extreme value. The value is
// found first, by a reduction; its index is the least, or greatest, of the
// indices of the elements that equal it. In between, indices are floating-point
// numbers, which are exact up to 2^24.
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

/// Returns the dimension to search, or nothing.
static std::optional<int64_t> axisOf(NodeConversion &c, int64_t fallback) {
  auto axis = c.axis(c.node.getInt("axis", fallback), c.type(0).getRank());
  if (!axis)
    return std::nullopt;
  int64_t size = c.type(0).getDimSize(*axis);
  unsigned width = c.type(0).getElementTypeBitWidth();
  if (c.isFloat(0) && width >= 32 && size >= 1 && size <= 1 << 24)
    return axis;
  c.problem = "the operand must be f32 or f64, its axis not empty nor larger "
              "than 2^24";
  return std::nullopt;
}

template <bool largest>
static LogicalResult argExtreme(NodeConversion &c) {
  auto axis = axisOf(c, 0);
  if (!axis)
    return failure();
  Value index = Search(c.b, c.input(0), *axis, largest)
                    .next(c.node.getInt("select_last_index", 0));
  if (c.node.getInt("keepdims", 1))
    return c.yield(index);
  SmallVector<int64_t> shape(c.b.shape(index));
  shape.erase(shape.begin() + *axis);
  return c.yield(c.b.reshape(index, shape));
}

/// Makes one search for each of the k elements. This suits the few experts of a
/// mixture, but not sorting.
static LogicalResult topK(NodeConversion &c) {
  constexpr int64_t kMost = 16;
  auto axis = axisOf(c, -1);
  auto count = c.constantInts(1);
  if (!axis || !count)
    return failure();
  if (count->size() != 1 || count->front() < 1 || count->front() > kMost ||
      count->front() > c.type(0).getDimSize(*axis))
    return c.fail("k must lie in 1 .. " + Twine(kMost) +
                  " and within the dimension");
  Search search(c.b, c.input(0), *axis, c.node.getInt("largest", 1));
  SmallVector<Value> found;
  for (int64_t i = 0; i < count->front(); ++i)
    found.push_back(search.next());
  Value indices = c.b.createOrFold<nn::ConcatOp>(found, *axis);
  c.outputs.push_back({{takeAlong(c.b, c.input(0), *axis, indices)}, false});
  c.outputs.push_back({{indices}, false});
  return success();
}

ArrayRef<OperatorEntry> gpuopt::rankOperators() {
  static const char floats[] = "f32 and f64";
  static const OperatorEntry entries[] = {
      {"ArgMax", argExtreme<true>, floats},
      {"ArgMin", argExtreme<false>, floats},
      {"TopK", topK, "f32 and f64, constant k up to 16"}};
  return entries;
}
