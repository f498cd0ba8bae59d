//===- Shape.cpp - Shapes, layouts, parts ---------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ControlFlow.h"
#include "LongLoop.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace gpuopt;

std::optional<SmallVector<int64_t>>
gpuopt::axesOf(NodeConversion &c, unsigned operand, int64_t rank) {
  std::optional<SmallVector<int64_t>> axes = c.node.getInts("axes");
  if (!axes && c.has(operand))
    axes = c.constantInts(operand);
  if (!axes)
    return std::nullopt;
  for (int64_t &axis : *axes) {
    auto fromFront = c.axis(axis, rank);
    if (!fromFront)
      return std::nullopt;
    axis = *fromFront;
  }
  SmallVector<int64_t> sorted(*axes);
  llvm::sort(sorted);
  if (llvm::adjacent_find(sorted) == sorted.end())
    return axes;
  c.problem = "the axes name a dimension twice";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Constants and shapes
//===----------------------------------------------------------------------===//

static LogicalResult constant(NodeConversion &c) {
  if (ElementsAttr value = c.node.getTensor("value"))
    return c.yield(c.b.create<arith::ConstantOp>(cast<TypedAttr>(value)));
  if (auto number = c.node.getInt("value_int"))
    return c.yield(makeInts(c, *number, /*isScalar=*/true));
  if (auto numbers = c.node.getInts("value_ints"))
    return c.yield(makeInts(c, *numbers));
  auto floats = c.node.getFloats("value_floats");
  if (auto number = c.node.getFloat("value_float"))
    return c.yield(
        c.b.splat(*number, RankedTensorType::get({}, c.b.getF32Type())));
  if (!floats)
    return c.fail("none of the attributes value, value_int(s), value_float(s)");
  SmallVector<float> narrow(floats->begin(), floats->end());
  auto type = RankedTensorType::get({(int64_t)narrow.size()}, c.b.getF32Type());
  return c.yield(c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<float>(narrow))));
}

static LogicalResult constantOfShape(NodeConversion &c) {
  auto shape = c.constantInts(0);
  if (!shape)
    return failure();
  auto value = dyn_cast_or_null<DenseElementsAttr>(c.node.getTensor("value"));
  if (value && value.getNumElements() != 1)
    return c.fail("attribute value must have one element");
  if (!c.isShape(*shape))
    return failure();
  Type element = value ? value.getElementType() : c.b.getF32Type();
  auto type = RankedTensorType::get(*shape, element);
  Attribute number = value ? *value.getValues<Attribute>().begin()
                           : Attribute(c.b.getFloatAttr(element, 0));
  return c.yield(
      c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, number)));
}

static LogicalResult shape(NodeConversion &c) {
  ArrayRef<int64_t> sizes = c.type(0).getShape();
  int64_t rank = sizes.size(), start = c.node.getInt("start", 0),
          end = c.node.getInt("end", rank);
  auto clamp = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank);
  };
  int64_t first = clamp(start), last = std::max(clamp(end), first);
  return c.yield(makeInts(c, sizes.slice(first, last - first)));
}

static LogicalResult size(NodeConversion &c) {
  return c.yield(makeInts(c, c.type(0).getNumElements(), true));
}

static constexpr char kWrongRange[] =
    "delta must not be 0, nor the range longer than 2^20";

/// Converts start + i * delta for all i before the limit.
static LogicalResult floatRange(NodeConversion &c) {
  auto start = c.constantFloat(0), limit = c.constantFloat(1),
       delta = c.constantFloat(2);
  if (!start || !limit || !delta)
    return failure();
  double count = std::ceil((*limit - *start) / *delta);
  if (*delta == 0 || !(count <= 1 << 20)) // nor NaN
    return c.fail(kWrongRange);
  auto type = RankedTensorType::get({int64_t(std::max(0.0, count))},
                                    c.type(0).getElementType());
  SmallVector<APFloat> numbers;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    numbers.push_back(
        c.b.getFloatAttr(type.getElementType(), *start + i * *delta)
            .getValue());
  return c.yield(
      c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, numbers)));
}

/// Returns how many integers there are from `start` on, by `delta`, before
/// `limit`.
static uint64_t countOfRange(int64_t start, int64_t limit, int64_t delta) {
  if (delta > 0 ? start >= limit : start <= limit)
    return 0;
  // Unsigned numbers hold any distance.
  uint64_t first = start, last = limit, step = delta;
  return delta > 0 ? llvm::divideCeil(last - first, step)
                   : llvm::divideCeil(first - last, -step);
}

static LogicalResult range(NodeConversion &c) {
  if (c.has(0) && c.isFloat(0))
    return floatRange(c);
  auto start = c.constantInt(0), limit = c.constantInt(1),
       delta = c.constantInt(2);
  if (!start || !limit || !delta)
    return failure();
  if (*delta == 0)
    return c.fail(kWrongRange);
  uint64_t count = countOfRange(*start, *limit, *delta);
  if (count > 1 << 20)
    return c.fail(kWrongRange);
  auto type =
      RankedTensorType::get({int64_t(count)}, c.type(0).getElementType());
  SmallVector<APInt> numbers;
  for (uint64_t i = 0; i < count; ++i)
    numbers.push_back(APInt(64, uint64_t(*start) + i * uint64_t(*delta))
                          .trunc(type.getElementTypeBitWidth()));
  return c.yield(
      c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, numbers)));
}

//===----------------------------------------------------------------------===//
// Layout
//===----------------------------------------------------------------------===//

static LogicalResult reshapeTo(NodeConversion &c, ArrayRef<int64_t> shape) {
  if (!c.isShape(shape))
    return failure();
  int64_t elements = ShapedType::getNumElements(shape);
  if (elements != c.type(0).getNumElements())
    return c.fail("the new shape has " + Twine(elements) +
                  " elements, the operand " +
                  Twine(c.type(0).getNumElements()));
  return c.yield(c.b.reshape(c.input(0), shape));
}

static LogicalResult reshape(NodeConversion &c) {
  auto shape = c.constantInts(1);
  if (!shape)
    return failure();
  int64_t known = 1, open = -1;
  for (auto [dim, size] : llvm::enumerate(*shape)) {
    if (size == 0 && !c.node.getInt("allowzero", 0)) {
      if ((int64_t)dim >= c.type(0).getRank())
        return c.fail(
            "a 0 in the new shape copies a dimension that the operand lacks");
      size = c.type(0).getDimSize(dim);
    }
    if (size == -1 && open >= 0)
      return c.fail("the new shape has more than one -1");
    if (size == -1)
      open = dim;
    else if (llvm::MulOverflow(known, size, known))
      return c.fail("the operand's elements do not fill the new shape");
  }
  if (open >= 0) {
    if (known < 1 || c.type(0).getNumElements() % known)
      return c.fail("the operand's elements do not fill the new shape");
    (*shape)[open] = c.type(0).getNumElements() / known;
  }
  return reshapeTo(c, *shape);
}

static LogicalResult flatten(NodeConversion &c) {
  // Flattening may begin behind the last dimension; an axis below 0 counts from
  // the last one all the same.
  int64_t rank = c.type(0).getRank(), given = c.node.getInt("axis", 1);
  auto axis = given == rank ? rank : c.axis(given, std::max<int64_t>(rank, 1));
  if (!axis)
    return failure();
  int64_t outer = 1, inner = 1;
  for (auto [dim, size] : llvm::enumerate(c.type(0).getShape()))
    ((int64_t)dim < *axis ? outer : inner) *= size;
  return reshapeTo(c, {outer, inner});
}

static LogicalResult squeeze(NodeConversion &c) {
  auto axes = axesOf(c, 1, c.type(0).getRank());
  if (!axes && !c.problem.empty())
    return failure();
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(c.type(0).getShape()))
    if (axes ? !llvm::is_contained(*axes, (int64_t)dim) : size != 1)
      shape.push_back(size);
  return reshapeTo(c, shape);
}

static LogicalResult unsqueeze(NodeConversion &c) {
  auto given = c.node.getInts("axes");
  int64_t added = given      ? given->size()
                  : c.has(1) ? c.type(1).getNumElements()
                             : 0;
  int64_t rank = c.type(0).getRank() + added;
  auto axes = axesOf(c, 1, rank);
  if (!axes)
    return failure();
  SmallVector<int64_t> shape;
  size_t next = 0;
  for (int64_t dim = 0; dim < rank; ++dim)
    shape.push_back(
        llvm::is_contained(*axes, dim) ? 1 : c.type(0).getDimSize(next++));
  return reshapeTo(c, shape);
}

static LogicalResult transpose(NodeConversion &c) {
  auto reversed = llvm::to_vector(
      llvm::reverse(llvm::seq<int64_t>(0, c.type(0).getRank())));
  auto permutation = c.node.getInts("perm", reversed);
  SmallVector<int64_t> sorted(permutation);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, c.type(0).getRank())))
    return c.fail("attribute perm is no permutation of the dimensions");
  return c.yield(c.b.transpose(c.input(0), permutation));
}

static LogicalResult expand(NodeConversion &c) {
  auto shape = c.constantInts(1);
  if (!shape)
    return failure();
  if (!c.isShape(*shape))
    return failure();
  auto common = c.commonShape(
      {c.input(0),
       c.b.splat(0, RankedTensorType::get(*shape, c.b.getI1Type()))});
  if (!common || !c.isShape(*common))
    return failure();
  return c.yield(c.b.broadcast(c.input(0), *common));
}

static LogicalResult tile(NodeConversion &c) {
  auto repeats = c.constantInts(1);
  if (!repeats)
    return failure();
  if ((int64_t)repeats->size() != c.type(0).getRank())
    return c.fail("one repeat per dimension is needed");
  // [n] becomes [1, n], is repeated to [r, n], and flattened.
  SmallVector<int64_t> split, wide, flat;
  for (auto [size, repeat] : llvm::zip(c.type(0).getShape(), *repeats)) {
    split.append({1, size});
    wide.append({repeat, size});
    flat.push_back(0);
    if (!c.isShape({repeat}) || llvm::MulOverflow(repeat, size, flat.back()))
      return c.fail("a repeat is negative or too large");
  }
  if (!c.isShape(flat))
    return failure();
  return c.yield(
      c.b.reshape(c.b.broadcast(c.b.reshape(c.input(0), split), wide), flat));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Returns the longest concatenation of `first` with operands that come next
/// that an earlier node has made; null if there is none.
static nn::ConcatOp earlierConcat(Block *block, Value first,
                                  ArrayRef<Value> next, int64_t axis) {
  nn::ConcatOp longest;
  for (Operation *user : first.getUsers()) {
    auto made = dyn_cast<nn::ConcatOp>(user);
    if (!made || int64_t(made.getDim()) != axis || made->getBlock() != block ||
        made.getInputs()[0] != first)
      continue;
    ValueRange others = made.getInputs().drop_front();
    if (others.size() <= next.size() &&
        llvm::equal(others, next.take_front(others.size())) &&
        (!longest || made.getInputs().size() > longest.getInputs().size()))
      longest = made;
  }
  return longest;
}

/// Has a concatenation that begins as an earlier one does read that one, as the
/// layers of a dense block do: of all that is joined again and again, only what
/// is new has to be written, and each part is read by one concatenation.
static void nestConcats(Block *block, SmallVectorImpl<Value> &parts,
                        int64_t axis) {
  while (nn::ConcatOp made = earlierConcat(
             block, parts[0], ArrayRef<Value>(parts).drop_front(), axis)) {
    parts.erase(parts.begin(), parts.begin() + made.getInputs().size());
    parts.insert(parts.begin(), made.getResult());
  }
}

static LogicalResult concat(NodeConversion &c) {
  auto axis = c.axis(c.node.getInt("axis", 0), c.type(0).getRank());
  if (!axis)
    return failure();
  SmallVector<Value> parts;
  for (unsigned index = 0; index < c.inputCount(); ++index) {
    RankedTensorType type = c.type(index);
    bool fits = type.getRank() == c.type(0).getRank() &&
                type.getElementType() == c.type(0).getElementType();
    for (int64_t dim = 0; fits && dim < type.getRank(); ++dim)
      fits = dim == *axis || type.getDimSize(dim) == c.type(0).getDimSize(dim);
    if (!fits)
      return c.fail(
          "operands differ in more than the dimension that is joined");
    if (type.getDimSize(*axis) != 0)
      parts.push_back(c.input(index));
  }
  if (parts.empty())
    parts.push_back(c.input(0));
  if (isa<FloatType>(c.type(0).getElementType()))
    nestConcats(c.b.getInsertionBlock(), parts, *axis);
  return c.yield(c.b.createOrFold<nn::ConcatOp>(parts, *axis));
}

/// The part of a dimension that a slice takes.
struct Range {
  int64_t first = 0, count = 0;
};

/// A start or end below 0 counts from the end; what is out of range is cut off.
/// (A start before the first element is the first one. NumPy takes nothing then
/// if the step is negative.)
static Range rangeOf(int64_t start, int64_t end, int64_t step, int64_t size) {
  if (size == 0)
    return {};
  auto clamp = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp<int64_t>(at < 0 ? at + size : at, low, high);
  };
  int64_t first = clamp(start, 0, step > 0 ? size : size - 1),
          distance =
              (step > 0 ? clamp(end, 0, size) : clamp(end, -1, size - 1)) -
              first;
  // The count is rounded up, in the direction of the step.
  int64_t count = (distance + step + (step > 0 ? -1 : 1)) / step;
  return count > 0 ? Range{first, count} : Range{};
}

/// Slices one dimension by bounds that follow from the number of a loop's
/// iteration. Returns nothing if they do not or are constants, if there are
/// more dimensions, or if the operand or the result's shape differ from
/// iteration to iteration.
static Value sliceByNumber(NodeConversion &c) {
  if (!c.state.iteration || (constantOf(c.input(1)) && constantOf(c.input(2))))
    return {};
  auto starts = c.state.iteration->integersOf(c.input(1)),
       ends = c.state.iteration->integersOf(c.input(2));
  int64_t count = c.state.iteration->getCount(), rank = c.type(0).getRank();
  if (!starts || !ends || (int64_t)starts->size() != count ||
      (int64_t)ends->size() != count)
    return {};
  int64_t axis = 0, step = 1;
  if (c.has(3)) {
    auto axes = axesOf(c, 3, rank);
    if (!axes || axes->size() != 1)
      return {};
    axis = axes->front();
  }
  if (c.has(4)) {
    auto given = c.constantInt(4);
    if (!given || *given == 0)
      return {};
    step = *given;
  }
  int64_t size = c.type(0).getDimSize(axis);
  step = std::clamp<int64_t>(step, -size - 1, size + 1);
  SmallVector<int64_t> indices;
  std::optional<int64_t> each;
  for (auto [start, end] : llvm::zip(*starts, *ends)) {
    Range range = rangeOf(start, end, step, size);
    if (range.count == 0 || range.count != each.value_or(range.count) ||
        range.count > kMostComputedElements / count)
      return {};
    each = range.count;
    for (int64_t i = 0; i < range.count; ++i)
      indices.push_back(range.first + i * step);
  }
  return c.state.iteration->pick(c.input(0), axis, indices);
}

static LogicalResult slice(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  if (Value picked = sliceByNumber(c))
    return c.yield(picked);
  auto starts = c.constantInts(1), ends = c.constantInts(2);
  if (!starts || !ends)
    return failure();
  std::optional<SmallVector<int64_t>> axes, steps;
  if (c.has(3) && !(axes = axesOf(c, 3, rank)))
    return failure();
  if (c.has(4) && !(steps = c.constantInts(4)))
    return failure();
  size_t count = starts->size();
  if (ends->size() != count || (axes && axes->size() != count) ||
      (steps && steps->size() != count) || (int64_t)count > rank)
    return c.fail("starts, ends, axes and steps must have one number for each "
                  "dimension that is sliced");
  SmallVector<int64_t> offsets(rank, 0), sizes(c.type(0).getShape()),
      strides(rank, 1);
  SmallVector<int64_t> reversed;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = axes ? (*axes)[i] : i, step = steps ? (*steps)[i] : 1,
            size = c.type(0).getDimSize(axis);
    if (step == 0)
      return c.fail("steps must not be 0");
    // A longer step takes the same elements, and could overflow.
    step = std::clamp<int64_t>(step, -size - 1, size + 1);
    Range range = rangeOf((*starts)[i], (*ends)[i], step, size);
    if (step < 0 && range.count > 0) {
      // The elements are taken forwards from the last one, and reversed
      // afterwards.
      range.first += (range.count - 1) * step;
      reversed.push_back(axis);
    }
    offsets[axis] = range.first;
    sizes[axis] = range.count;
    strides[axis] = std::abs(step);
  }
  Value result =
      c.b.createOrFold<nn::SliceOp>(c.input(0), offsets, sizes, strides);
  for (int64_t axis : reversed) {
    if (!c.canCompute(sizes[axis]))
      return failure();
    auto picked =
        llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, sizes[axis])));
    result = pick(c.b, result, axis, picked);
  }
  return c.yield(result);
}

/// The most parts of a sequence, as of iterations that are unrolled.
static constexpr int64_t kMostParts = kMostIterations;

/// Whether a tensor may be split into so many parts, each of which becomes an
/// op; notes the problem if not. A node may have more outputs than that.
static bool canSplit(NodeConversion &c, int64_t parts) {
  int64_t most = std::max<int64_t>(kMostParts, c.node.getNumResults());
  if (parts <= most)
    return true;
  c.problem = "the operand would be split into " + std::to_string(parts) +
              " parts, but at most " + std::to_string(most) + " are supported";
  return false;
}

/// Returns parts of one size, but for the last; notes the problem if they are
/// too many.
static std::optional<SmallVector<int64_t>>
equalParts(NodeConversion &c, int64_t total, int64_t each) {
  if (each <= 0 || total == 0)
    return SmallVector<int64_t>();
  SmallVector<int64_t> parts;
  if (!canSplit(c, llvm::divideCeil(total, each)))
    return std::nullopt;
  for (int64_t left = total; left > 0; left -= parts.back())
    parts.push_back(std::min(each, left));
  return parts;
}

/// Returns the sizes of the parts of Split and SplitToSequence along an axis.
static std::optional<SmallVector<int64_t>>
partSizes(NodeConversion &c, int64_t total, int64_t count) {
  if (c.has(1)) {
    auto sizes = c.constantInts(1);
    if (!sizes || !canSplit(c, sizes->size()))
      return std::nullopt;
    bool isSizeOfEach = c.type(1).getRank() == 0;
    return isSizeOfEach ? equalParts(c, total, sizes->front()) : sizes;
  }
  auto parts = equalParts(c, total,
                          llvm::divideCeil(total, std::max<int64_t>(count, 1)));
  if (parts && int64_t(parts->size()) < count)
    parts->resize(count, 0); // nothing is left for them
  return parts;
}

static LogicalResult split(NodeConversion &c, bool toSequence) {
  auto axis = c.axis(c.node.getInt("axis", 0), c.type(0).getRank());
  if (!axis)
    return failure();
  int64_t total = c.type(0).getDimSize(*axis);
  int64_t outputs = c.node.getNumResults(),
          count = c.node.getInt("num_outputs", outputs);
  if (!toSequence && count != outputs)
    return c.fail("attribute num_outputs = " + Twine(count) +
                  " must equal the number of outputs, which is " +
                  Twine(outputs));
  auto sizes = partSizes(c, total, toSequence ? total : count);
  if (!sizes)
    return failure();
  if (!toSequence && int64_t(sizes->size()) != outputs)
    return c.fail("operand 1 must give one size per output, of which there "
                  "are " +
                  Twine(outputs) + ", but gives " + Twine(sizes->size()));
  int64_t sum = 0;
  bool fits = true;
  for (int64_t size : *sizes) {
    fits &= size >= 0 && size <= total - sum;
    sum += fits ? size : 0;
  }
  if (!fits || sum != total)
    return c.fail("the parts do not add up to the dimension that is split");
  SmallVector<Value> parts;
  int64_t begin = 0;
  for (int64_t size : *sizes) {
    Value part = partOf(c.b, c.input(0), *axis, begin, size);
    begin += size;
    if (toSequence && !c.has(1) && !c.node.getInt("keepdims", 1)) {
      SmallVector<int64_t> shape(c.b.shape(part));
      shape.erase(shape.begin() + *axis);
      part = c.b.reshape(part, shape);
    }
    parts.push_back(part);
  }
  if (toSequence)
    c.outputs.push_back({parts, true});
  else
    for (Value part : parts)
      c.outputs.push_back({{part}, false});
  return success();
}
static LogicalResult splitToTensors(NodeConversion &c) {
  return split(c, false);
}
static LogicalResult splitToSequence(NodeConversion &c) {
  return split(c, true);
}

ArrayRef<OperatorEntry> gpuopt::shapeOperators() {
  static const OperatorEntry entries[] = {
      {"Concat", concat},
      {"Constant", constant, "no strings, no sparse tensors"},
      {"ConstantOfShape", constantOfShape},
      {"Expand", expand},
      {"Flatten", flatten},
      {"Range", range, "constants"},
      {"Reshape", reshape},
      {"Shape", shape},
      {"Size", size},
      {"Slice", slice},
      {"Split", splitToTensors},
      {"SplitToSequence", splitToSequence, "up to 4096 parts"},
      {"Squeeze", squeeze},
      {"Tile", tile},
      {"Transpose", transpose},
      {"Unsqueeze", unsqueeze}};
  return entries;
}
