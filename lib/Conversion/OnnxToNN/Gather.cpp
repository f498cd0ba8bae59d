//===- Gather.cpp - Elements picked by index ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the indices as i64. In constants, indices that count from the end
/// are changed to count from the front.
static Value normalised(NodeConversion &c, Value indices, int64_t size) {
  if (!c.b.type(indices).getElementType().isInteger(64))
    indices = c.b.createOrFold<arith::ExtSIOp>(
        c.b.type(indices).clone(c.b.getI64Type()), indices);
  DenseElementsAttr constant = constantOf(indices);
  if (!constant)
    return indices;
  SmallVector<int64_t> numbers;
  for (const APInt &number : constant.getValues<APInt>())
    numbers.push_back(number.isNegative() ? number.getSExtValue() + size
                                          : number.getSExtValue());
  auto type = c.b.type(indices);
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(type, ArrayRef<int64_t>(numbers)));
}

/// Whether the indices are a whole input of the model, whose numbers are
/// checked when it is loaded.
static bool isInput(Value indices) {
  while (Operation *op = indices.getDefiningOp()) {
    if (!isa<nn::ReshapeOp, nn::TransposeOp, nn::BroadcastOp, arith::ExtSIOp,
             arith::ExtUIOp>(op))
      return false;
    indices = op->getOperand(0);
  }
  return true;
}

static Value inRange(NodeConversion &c, Value indices, int64_t size) {
  return c.b.create<nn::InRangeOp>(c.b.type(indices), indices, size);
}

static LogicalResult gather(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  auto axis = c.axis(c.node.getInt("axis", 0), type.getRank());
  if (!axis)
    return failure();
  Value indices = normalised(c, c.input(1), type.getDimSize(*axis));
  DenseElementsAttr constant = constantOf(indices);
  if (constant)
    for (const APInt &number : constant.getValues<APInt>())
      if (number.getSExtValue() < 0 ||
          number.getSExtValue() >= type.getDimSize(*axis))
        return c.fail("index " + Twine(number.getSExtValue()) +
                      " is outside of the dimension");
  if (constant && constant.getNumElements() == 1) {
    // A single entry is a slice.
    SmallVector<int64_t> shape(type.getShape().take_front(*axis));
    llvm::append_range(shape, c.b.shape(indices));
    llvm::append_range(shape, type.getShape().drop_front(*axis + 1));
    int64_t at = (*constant.getValues<APInt>().begin()).getSExtValue();
    return c.yield(c.b.reshape(sliceAlong(c, *axis, at, 1), shape));
  }
  if (constant && constantOf(c.input(0))) {
    // Entries are picked one by one, because each of these ops folds.
    SmallVector<Value> parts;
    for (const APInt &number : constant.getValues<APInt>())
      parts.push_back(sliceAlong(c, *axis, number.getSExtValue(), 1));
    if (parts.empty())
      parts.push_back(sliceAlong(c, *axis, 0, 0));
    SmallVector<int64_t> shape(type.getShape().take_front(*axis));
    llvm::append_range(shape, c.b.shape(indices));
    llvm::append_range(shape, type.getShape().drop_front(*axis + 1));
    return c.yield(
        c.b.reshape(c.b.createOrFold<nn::ConcatOp>(parts, *axis), shape));
  }
  if (!constant && c.b.type(indices).getNumElements() > 0 &&
      type.getDimSize(*axis) == 0)
    return c.fail("the dimension has no entries to pick");
  if (!constant && !isInput(indices) && type.getDimSize(*axis) > 0)
    indices = inRange(c, indices, type.getDimSize(*axis));
  // The gathered dimension comes first; afterwards the indices' dimensions take
  // its place.
  auto toFront = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  toFront.erase(toFront.begin() + *axis);
  toFront.insert(toFront.begin(), *axis);
  Value taken =
      c.b.create<nn::TakeOp>(c.b.transpose(c.input(0), toFront), indices);
  int64_t indexRank = c.b.type(indices).getRank();
  SmallVector<int64_t> back;
  for (int64_t dim = 0; dim < *axis; ++dim)
    back.push_back(indexRank + dim);
  for (int64_t dim = 0; dim < indexRank; ++dim)
    back.push_back(dim);
  for (int64_t dim = *axis; dim < type.getRank() - 1; ++dim)
    back.push_back(indexRank + dim);
  return c.yield(c.b.transpose(taken, back));
}

/// Returns the operand with its leading dimensions merged into one.
static Value rowsOf(NodeConversion &c, int64_t depth) {
  ArrayRef<int64_t> from = c.type(0).getShape();
  SmallVector<int64_t> table{1};
  for (int64_t size : from.take_front(depth))
    table.front() *= size;
  llvm::append_range(table, from.drop_front(depth));
  return c.b.reshape(c.input(0), table);
}

/// Takes rows of the operand by indices that are known only when the program
/// runs.
static Value takeRows(NodeConversion &c, int64_t depth) {
  ArrayRef<int64_t> from = c.type(0).getShape();
  SmallVector<int64_t> shape(c.type(1).getShape()), offsets(shape.size(), 0),
      ones(shape.size(), 1);
  shape.back() = 1;
  Value row;
  for (int64_t dim = 0; dim < depth; ++dim) {
    offsets.back() = dim;
    Value part =
        c.b.createOrFold<nn::SliceOp>(c.input(1), offsets, shape, ones);
    part = c.b.reshape(part, ArrayRef(shape).drop_back());
    part = inRange(c, normalised(c, part, from[dim]), from[dim]);
    if (row) {
      row = c.b.createOrFold<arith::MulIOp>(
          row, c.b.splat(from[dim], c.b.type(row)));
      row = c.b.createOrFold<arith::AddIOp>(row, part);
    } else {
      row = part;
    }
  }
  return c.b.create<nn::TakeOp>(rowsOf(c, depth), row);
}

/// GatherND of constants, which exporters use in masks, is a constant.
static LogicalResult gatherND(NodeConversion &c) {
  DenseElementsAttr data = constantOf(c.input(0)),
                    indices = constantOf(c.input(1));
  if (c.node.getInt("batch_dims", 0) != 0)
    return c.fail("attribute batch_dims is not supported");
  ArrayRef<int64_t> from = c.type(0).getShape();
  int64_t depth = c.type(1).getRank() ? c.type(1).getShape().back() : 0;
  if (depth < 1 || depth > c.type(0).getRank())
    return c.fail("indices must have 1 to " + Twine(from.size()) +
                  " numbers each, as many as the operand has dimensions");
  if (!indices && llvm::is_contained(from.take_front(depth), 0))
    return c.fail("the dimension has no entries to pick");
  if (!indices)
    return c.yield(takeRows(c, depth));
  SmallVector<int64_t> shape(c.type(1).getShape().drop_back());
  llvm::append_range(shape, from.drop_front(depth));
  RankedTensorType result = c.type(0).clone(shape);
  if (data && data.isSplat())
    return c.yield(c.b.create<arith::ConstantOp>(data.resizeSplat(result)));
  int64_t inner = 1;
  for (int64_t size : from.drop_front(depth))
    inner *= size;
  SmallVector<int64_t> rows, numbers;
  for (const APInt &number : indices.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  for (size_t begin = 0; begin < numbers.size(); begin += depth) {
    int64_t row = 0;
    for (int64_t dim = 0; dim < depth; ++dim) {
      int64_t at = numbers[begin + dim] < 0 ? numbers[begin + dim] + from[dim]
                                            : numbers[begin + dim];
      if (at < 0 || at >= from[dim])
        return c.fail("index " + Twine(numbers[begin + dim]) +
                      " is outside of its dimension");
      row = row * from[dim] + at;
    }
    rows.push_back(row);
  }
  if (data) {
    auto elements = data.getValues<Attribute>();
    SmallVector<Attribute> picked;
    for (int64_t row : rows)
      for (int64_t i = 0; i < inner; ++i)
        picked.push_back(elements[row * inner + i]);
    return c.yield(
        c.b.create<arith::ConstantOp>(DenseElementsAttr::get(result, picked)));
  }
  Value taken = c.b.create<nn::TakeOp>(rowsOf(c, depth), makeInts(c, rows));
  return c.yield(c.b.reshape(taken, shape));
}

/// Row-major strides of a shape.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = (int64_t)shape.size() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

/// Returns for each element of GatherElements its place in the operand, in
/// row-major order, if the indices are constant.
static std::optional<SmallVector<int64_t>>
placesOf(NodeConversion &c, int64_t axis, DenseElementsAttr indices) {
  ArrayRef<int64_t> from = c.type(0).getShape(), to = c.type(1).getShape();
  SmallVector<int64_t> strides = stridesOf(from), index(from.size(), 0), places;
  for (const APInt &number : indices.getValues<APInt>()) {
    int64_t size = from[axis], at = number.getSExtValue();
    at = at < 0 ? at + size : at;
    if (at < 0 || at >= size) {
      c.problem = "index " + std::to_string(number.getSExtValue()) +
                  " is outside of the dimension";
      return std::nullopt;
    }
    int64_t place = at * strides[axis];
    for (int64_t dim = 0; dim < (int64_t)from.size(); ++dim)
      if (dim != axis)
        place += index[dim] * strides[dim];
    places.push_back(place);
    for (int64_t dim = from.size() - 1; dim >= 0 && ++index[dim] == to[dim];
         --dim)
      index[dim] = 0;
  }
  return places;
}

Value gpuopt::takeAlong(nn::TensorBuilder &b, Value x, int64_t axis,
                        Value index) {
  ArrayRef<int64_t> from = b.shape(x);
  SmallVector<int64_t> strides = stridesOf(from);
  RankedTensorType type = b.type(index);
  auto add = [&](Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(x, y);
  };
  auto scale = [&](Value x, int64_t factor) {
    return b.createOrFold<arith::MulIOp>(x, b.splat(factor, type));
  };
  Value place = scale(index, strides[axis]);
  for (int64_t dim = 0; dim < (int64_t)from.size(); ++dim)
    if (dim != axis)
      place = add(place, scale(b.create<nn::IotaOp>(type, dim), strides[dim]));
  Value row = b.reshape(x, {b.type(x).getNumElements()});
  return b.create<nn::TakeOp>(row, place);
}

/// Gathers from the operand as one row of all elements.
static LogicalResult gatherElements(NodeConversion &c) {
  RankedTensorType type = c.type(0), result = type.clone(c.type(1).getShape());
  auto axis = c.axis(c.node.getInt("axis", 0), type.getRank());
  if (!axis)
    return failure();
  bool fits = c.type(1).getRank() == type.getRank();
  for (int64_t dim = 0; fits && dim < type.getRank(); ++dim)
    fits = dim == *axis || result.getDimSize(dim) <= type.getDimSize(dim);
  if (!fits)
    return c.fail("indices must have the operand's rank and, but for the axis, "
                  "be no larger");
  DenseElementsAttr data = constantOf(c.input(0)),
                    indices = constantOf(c.input(1));
  if (data && data.isSplat())
    return c.yield(c.b.create<arith::ConstantOp>(data.resizeSplat(result)));
  int64_t size = type.getDimSize(*axis);
  if (!indices && size == 0)
    return c.fail("the dimension has no entries to pick");
  if (!indices)
    return c.yield(
        takeAlong(c.b, c.input(0), *axis,
                  inRange(c, normalised(c, c.input(1), size), size)));
  auto places = placesOf(c, *axis, indices);
  if (!places)
    return failure();
  if (data) {
    auto elements = data.getValues<Attribute>();
    auto picked = llvm::map_to_vector(
        *places, [&](int64_t place) -> Attribute { return elements[place]; });
    return c.yield(
        c.b.create<arith::ConstantOp>(DenseElementsAttr::get(result, picked)));
  }
  Value row = c.b.reshape(c.input(0), {type.getNumElements()});
  Value constant = c.b.reshape(makeInts(c, *places), result.getShape());
  return c.yield(c.b.create<nn::TakeOp>(row, constant));
}

/// Gives `on` where the index along a new dimension is the operand's, and `off`
/// elsewhere.
static LogicalResult oneHot(NodeConversion &c) {
  auto depth = c.constantInts(1);
  DenseElementsAttr values = constantOf(c.input(2));
  if (!depth)
    return failure();
  if (!values || values.getNumElements() != 2 || depth->size() != 1)
    return c.fail("the depth and the two values must be constants");
  auto axis = c.axis(c.node.getInt("axis", -1), c.type(0).getRank() + 1);
  if (!axis)
    return failure();
  int64_t size = depth->front();
  SmallVector<int64_t> shape(c.type(0).getShape());
  shape.insert(shape.begin() + *axis, size);
  if (!c.isShape(shape))
    return failure();
  shape[*axis] = 1;
  Value indices = c.b.reshape(normalised(c, c.input(0), size), shape);
  RankedTensorType narrow = c.b.type(indices);
  Value isNegative =
      c.b.compare(arith::CmpIPredicate::slt, indices, c.b.splat(0, narrow));
  Value fromEnd =
      c.b.createOrFold<arith::AddIOp>(indices, c.b.splat(size, narrow));
  indices = c.b.select(isNegative, fromEnd, indices);
  shape[*axis] = size;
  Value place = c.b.create<nn::IotaOp>(narrow.clone(shape), *axis);
  auto type = RankedTensorType::get(shape, values.getElementType());
  auto filled = [&](unsigned number) -> Value {
    Attribute value = values.getValues<Attribute>()[number];
    return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, value));
  };
  return c.yield(
      c.b.select(c.b.compare(arith::CmpIPredicate::eq, place, indices),
                 filled(1), filled(0)));
}

ArrayRef<OperatorEntry> gpuopt::gatherOperators() {
  static const OperatorEntry entries[] = {
      {"Gather", gather},
      {"GatherElements", gatherElements},
      {"GatherND", gatherND, "batch_dims 0"},
      {"OneHot", oneHot, "integer indices, constant depth and values"}};
  return entries;
}
