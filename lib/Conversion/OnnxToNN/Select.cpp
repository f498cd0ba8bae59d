//===- Select.cpp - Elements chosen by what tensors hold ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The size of what Compress, NonZero and Unique give depends on the numbers of
// an operand. Shapes are static, so that operand must be a constant.
//
//===----------------------------------------------------------------------===//

#include "Places.h"

using namespace mlir;
using namespace gpuopt;

static LogicalResult failForData(NodeConversion &c, unsigned index) {
  return c.fail("operand " + Twine(index) +
                " must be a constant, since the shape of the result depends "
                "on its numbers" +
                c.whatDecides(index));
}

static bool isZero(Attribute number) {
  if (auto integer = dyn_cast<IntegerAttr>(number))
    return integer.getValue().isZero();
  return cast<FloatAttr>(number).getValue().isZero();
}

/// Keeps the entries of a dimension, or of all elements, whose condition is
/// true.
static LogicalResult compress(NodeConversion &c) {
  DenseElementsAttr condition = constantOf(c.input(1));
  if (!condition)
    return failForData(c, 1);
  Value x = c.input(0);
  std::optional<int64_t> axis = c.node.getInt("axis");
  if (!axis) {
    x = c.b.reshape(x, {c.type(0).getNumElements()});
    axis = 0;
  } else if (!(axis = c.axis(*axis, c.type(0).getRank()))) {
    return failure();
  }
  int64_t size = c.b.shape(x)[*axis];
  if (condition.getNumElements() > size)
    return c.fail("the condition is longer than the dimension");
  if (!c.canCompute(condition.getNumElements()))
    return failure();
  SmallVector<int64_t> kept;
  for (auto [index, isKept] : llvm::enumerate(condition.getValues<bool>()))
    if (isKept)
      kept.push_back(index);
  if (!kept.empty())
    return c.yield(pick(c.b, x, *axis, kept));
  SmallVector<int64_t> zeros(c.b.type(x).getRank(), 0), none(c.b.shape(x)),
      ones(zeros.size(), 1);
  none[*axis] = 0;
  return c.yield(c.b.createOrFold<nn::SliceOp>(x, zeros, none, ones));
}

static LogicalResult nonZero(NodeConversion &c) {
  DenseElementsAttr data = constantOf(c.input(0));
  if (!data)
    return failForData(c, 0);
  if (!c.canCompute(data.getNumElements()))
    return failure();
  ArrayRef<int64_t> shape = c.type(0).getShape();
  int64_t rank = shape.size();
  SmallVector<SmallVector<int64_t>> found(rank);
  SmallVector<int64_t> index(rank, 0);
  int64_t count = 0;
  for (Attribute number : data.getValues<Attribute>()) {
    if (!isZero(number)) {
      ++count;
      for (int64_t dim = 0; dim < rank; ++dim)
        found[dim].push_back(index[dim]);
    }
    for (int64_t dim = rank - 1; dim >= 0 && ++index[dim] == shape[dim]; --dim)
      index[dim] = 0;
  }
  SmallVector<int64_t> numbers;
  for (const SmallVector<int64_t> &row : found)
    llvm::append_range(numbers, row);
  auto type = RankedTensorType::get({rank, count}, c.b.getI64Type());
  return c.yield(c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers))));
}

//===----------------------------------------------------------------------===//
// Unique
//===----------------------------------------------------------------------===//

namespace {

/// The entries of a dimension of a constant, each a list of numbers.
class Entries {
public:
  Entries(DenseElementsAttr data, ArrayRef<int64_t> shape, int64_t axis)
      : numbers(data.getValues<Attribute>()), size(shape[axis]) {
    for (int64_t next : shape.take_front(axis))
      outer *= next;
    for (int64_t next : shape.drop_front(axis + 1))
      inner *= next;
  }

  /// Returns a number below, of or above 0 as entry `a` is less than, equal to
  /// or greater than `b`, by the first numbers that differ.
  int compare(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < outer; ++i)
      for (int64_t k = 0; k < inner; ++k)
        if (int order = compareNumbers(at(i, a, k), at(i, b, k)))
          return order;
    return 0;
  }

private:
  Attribute at(int64_t i, int64_t entry, int64_t k) const {
    return numbers[(i * size + entry) * inner + k];
  }
  static int compareNumbers(Attribute a, Attribute b) {
    if (auto left = dyn_cast<IntegerAttr>(a)) {
      const APInt &x = left.getValue(), &y = cast<IntegerAttr>(b).getValue();
      bool isUnsigned =
          left.getType().isUnsignedInteger() || left.getType().isInteger(1);
      bool isLess = isUnsigned ? x.ult(y) : x.slt(y);
      return x == y ? 0 : isLess ? -1 : 1;
    }
    const APFloat &x = cast<FloatAttr>(a).getValue(),
                  &y = cast<FloatAttr>(b).getValue();
    if (x.isNaN() || y.isNaN()) // NaNs are equal, and come last
      return x.isNaN() - y.isNaN();
    APFloat::cmpResult order = x.compare(y);
    return order == APFloat::cmpEqual      ? 0
           : order == APFloat::cmpLessThan ? -1
                                           : 1;
  }

  SmallVector<Attribute> numbers;
  int64_t size, outer = 1, inner = 1;
};

} // namespace

/// Gives the entries of a dimension, or of all elements, without repetitions;
/// where each occurs first, which of them each entry is, and how often.
static LogicalResult unique(NodeConversion &c) {
  DenseElementsAttr data = constantOf(c.input(0));
  if (!data)
    return failForData(c, 0);
  if (!c.canCompute(data.getNumElements()))
    return failure();
  Value x = c.input(0);
  std::optional<int64_t> axis = c.node.getInt("axis");
  if (!axis) {
    x = c.b.reshape(x, {c.type(0).getNumElements()});
    axis = 0;
  } else if (!(axis = c.axis(*axis, c.type(0).getRank()))) {
    return failure();
  }
  Entries entries(data, c.b.shape(x), *axis);
  int64_t size = c.b.shape(x)[*axis];
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, size));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    int difference = entries.compare(a, b);
    return difference ? difference < 0 : a < b;
  });
  // Each group of equal entries begins with the first that occurs.
  SmallVector<SmallVector<int64_t>> groups;
  for (int64_t entry : order) {
    if (groups.empty() || entries.compare(groups.back().front(), entry) != 0)
      groups.emplace_back();
    groups.back().push_back(entry);
  }
  if (!c.node.getInt("sorted", 1))
    llvm::sort(groups, [](const auto &a, const auto &b) {
      return a.front() < b.front();
    });
  SmallVector<int64_t> first, group(size), counts;
  for (auto [number, members] : llvm::enumerate(groups)) {
    first.push_back(members.front());
    counts.push_back(members.size());
    for (int64_t entry : members)
      group[entry] = number;
  }
  SmallVector<Value> parts;
  for (int64_t entry : first) {
    SmallVector<int64_t> offsets(c.b.type(x).getRank(), 0), sizes(c.b.shape(x)),
        ones(offsets.size(), 1);
    offsets[*axis] = entry;
    sizes[*axis] = 1;
    parts.push_back(c.b.createOrFold<nn::SliceOp>(x, offsets, sizes, ones));
  }
  if (parts.empty())
    parts.push_back(x);
  c.outputs.push_back({{c.b.createOrFold<nn::ConcatOp>(parts, *axis)}, false});
  for (ArrayRef<int64_t> numbers :
       {ArrayRef(first), ArrayRef(group), ArrayRef(counts)})
    c.outputs.push_back({{makeInts(c, numbers)}, false});
  return success();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// Turns the first elements of each sequence of a batch around, as many as
/// operand 1 says, and leaves the others where they are.
static LogicalResult reverseSequence(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  auto batch = c.axis(c.node.getInt("batch_axis", 1), type.getRank()),
       time = c.axis(c.node.getInt("time_axis", 0), type.getRank());
  if (!batch || !time)
    return failure();
  if (*batch == *time || c.type(1).getRank() != 1 ||
      c.type(1).getDimSize(0) != type.getDimSize(*batch))
    return c.fail("batch_axis and time_axis must differ, and operand 1 have a "
                  "length for each sequence of the batch");
  int64_t steps = type.getDimSize(*time);
  if (steps == 0)
    return c.yield(c.input(0));
  if (auto lengths = integersOf(c.input(1)))
    for (int64_t length : *lengths)
      if (length < 0 || length > steps)
        return c.fail("length " + Twine(length) + " must lie in 0 .. " +
                      Twine(steps));
  SmallVector<int64_t> perSequence(type.getRank(), 1);
  perSequence[*batch] = type.getDimSize(*batch);
  Value lengths = c.b.reshape(normalised(c, c.input(1), 0), perSequence);
  RankedTensorType index = type.clone(c.b.getI64Type());
  Value step = c.b.create<nn::IotaOp>(index, *time);
  Value wide = c.b.broadcast(lengths, type.getShape());
  Value turned = c.b.createOrFold<arith::SubIOp>(
      c.b.createOrFold<arith::SubIOp>(wide, c.b.splat(1, index)), step);
  Value from = c.b.select(c.b.compare(arith::CmpIPredicate::slt, step, wide),
                          turned, step);
  return c.yield(takeAlong(c.b, c.input(0), *time, inRange(c, from, steps)));
}

ArrayRef<OperatorEntry> gpuopt::selectOperators() {
  static const OperatorEntry entries[] = {
      {"Compress", compress, "constant condition"},
      {"NonZero", nonZero, "constants"},
      {"ReverseSequence", reverseSequence},
      {"Unique", unique, "constants"}};
  return entries;
}
