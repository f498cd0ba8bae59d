//===- Places.cpp - Where the elements that indices name lie --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Places.h"

using namespace mlir;
using namespace gpuopt;

Value gpuopt::normalised(NodeConversion &c, Value indices, int64_t size) {
  if (!c.b.type(indices).getElementType().isInteger(64))
    indices = c.b.createOrFold<arith::ExtSIOp>(
        c.b.type(indices).clone(c.b.getI64Type()), indices);
  DenseElementsAttr elements = constantOf(indices);
  if (elements && elements.isSplat()) {
    int64_t number = elements.getSplatValue<APInt>().getSExtValue();
    return c.b.splat(number < 0 ? number + size : number, c.b.type(indices));
  }
  auto constant = integersOf(indices);
  if (!constant)
    return indices;
  for (int64_t &number : *constant)
    number = number < 0 ? number + size : number;
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(c.b.type(indices), ArrayRef<int64_t>(*constant)));
}

Value gpuopt::inRange(NodeConversion &c, Value indices, int64_t size) {
  return c.b.create<nn::InRangeOp>(c.b.type(indices), indices, size);
}

std::optional<SmallVector<int64_t>> gpuopt::integersOf(Value value) {
  DenseElementsAttr constant = constantOf(value);
  if (!constant || !isa<IntegerType>(constant.getElementType()) ||
      (constant.isSplat() && constant.getNumElements() > kMostComputedElements))
    return std::nullopt;
  SmallVector<int64_t> numbers;
  for (const APInt &number : constant.getValues<APInt>())
    numbers.push_back(number.getSExtValue());
  return numbers;
}

Value gpuopt::withMergedRows(nn::TensorBuilder &b, Value x, int64_t depth) {
  ArrayRef<int64_t> from = b.shape(x);
  SmallVector<int64_t> table{1};
  for (int64_t size : from.take_front(depth))
    table.front() *= size;
  llvm::append_range(table, from.drop_front(depth));
  return b.reshape(x, table);
}

/// Row-major strides of a shape.
static SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t dim = (int64_t)shape.size() - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

/// Returns an index counted from the front; notes the problem if it lies
/// outside of its dimension.
static std::optional<int64_t> checked(NodeConversion &c, int64_t index,
                                      int64_t size) {
  int64_t at = index < 0 ? index + size : index;
  if (at >= 0 && at < size)
    return at;
  c.problem = "index " + std::to_string(index) +
              " is outside of its dimension of " + std::to_string(size);
  return std::nullopt;
}

static Value makeTensor(nn::TensorBuilder &b, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> numbers) {
  auto type = RankedTensorType::get(shape, b.getI64Type());
  return b.create<arith::ConstantOp>(DenseElementsAttr::get(type, numbers));
}

static Value plus(nn::TensorBuilder &b, Value x, Value y) {
  return x ? b.createOrFold<arith::AddIOp>(x, y) : y;
}
static Value times(nn::TensorBuilder &b, Value x, int64_t factor) {
  return b.createOrFold<arith::MulIOp>(x, b.splat(factor, b.type(x)));
}

/// Returns the elements `index`[..., dim].
static Value coordinate(nn::TensorBuilder &b, Value indices, int64_t dim) {
  SmallVector<int64_t> shape(b.shape(indices)), offsets(shape.size(), 0),
      ones(shape.size(), 1);
  shape.back() = 1;
  offsets.back() = dim;
  Value part = b.createOrFold<nn::SliceOp>(indices, offsets, shape, ones);
  return b.reshape(part, ArrayRef(shape).drop_back());
}

/// Does the work of rowPlaces for constant indices.
static Value constantRows(NodeConversion &c, ArrayRef<int64_t> numbers,
                          ArrayRef<int64_t> shape, ArrayRef<int64_t> from,
                          int64_t batchDims) {
  int64_t depth = shape.back(), batch = 1;
  SmallVector<int64_t> rows;
  for (int64_t size : from.take_front(batchDims))
    batch *= size;
  int64_t tuples = numbers.size() / depth, each = batch ? tuples / batch : 0;
  for (int64_t tuple = 0; tuple < tuples; ++tuple) {
    int64_t row = tuple / each;
    for (int64_t dim = 0; dim < depth; ++dim) {
      int64_t size = from[batchDims + dim];
      auto at = checked(c, numbers[tuple * depth + dim], size);
      if (!at)
        return {};
      row = batchDims == 0 && dim == 0 ? *at : row * size + *at;
    }
    rows.push_back(row);
  }
  return makeTensor(c.b, shape.drop_back(), rows);
}

Value gpuopt::rowPlaces(NodeConversion &c, Value indices,
                        ArrayRef<int64_t> from, int64_t batchDims) {
  ArrayRef<int64_t> shape = c.b.shape(indices);
  if (from.empty() || shape.empty()) {
    c.problem = "operand and indices must have rank 1 or more";
    return {};
  }
  int64_t rank = from.size(), depth = shape.back();
  if (batchDims < 0 || batchDims >= std::min<int64_t>(rank, shape.size()) ||
      shape.take_front(batchDims) != from.take_front(batchDims)) {
    c.problem = "attribute batch_dims = " + std::to_string(batchDims) +
                " must count leading dimensions that the operand and the "
                "indices share";
    return {};
  }
  if (depth < 1 || depth > rank - batchDims) {
    c.problem = "indices must have 1 to " + std::to_string(rank - batchDims) +
                " numbers each, as many as the operand has dimensions";
    return {};
  }
  if (auto numbers = integersOf(indices))
    return constantRows(c, *numbers, shape, from, batchDims);
  if (llvm::is_contained(from.take_front(batchDims + depth), 0)) {
    c.problem = "the dimension has no entries to pick";
    return {};
  }
  auto type = RankedTensorType::get(shape.drop_back(), c.b.getI64Type());
  Value row;
  for (int64_t dim = 0; dim < batchDims; ++dim)
    row = plus(c.b, row ? times(c.b, row, from[dim]) : Value(),
               c.b.create<nn::IotaOp>(type, dim));
  for (int64_t dim = 0; dim < depth; ++dim) {
    int64_t size = from[batchDims + dim];
    Value part = normalised(c, coordinate(c.b, indices, dim), size);
    row = plus(c.b, row ? times(c.b, row, size) : Value(),
               inRange(c, part, size));
  }
  return row;
}

/// Does the work of elementPlaces for constant indices.
static Value constantElements(NodeConversion &c, ArrayRef<int64_t> numbers,
                              ArrayRef<int64_t> to, ArrayRef<int64_t> from,
                              int64_t axis) {
  SmallVector<int64_t> strides = stridesOf(from), index(from.size(), 0), places;
  for (int64_t number : numbers) {
    auto at = checked(c, number, from[axis]);
    if (!at)
      return {};
    int64_t place = *at * strides[axis];
    for (int64_t dim = 0; dim < (int64_t)from.size(); ++dim)
      if (dim != axis)
        place += index[dim] * strides[dim];
    places.push_back(place);
    for (int64_t dim = from.size() - 1; dim >= 0 && ++index[dim] == to[dim];
         --dim)
      index[dim] = 0;
  }
  return makeTensor(c.b, to, places);
}

/// Returns the places of elements with an index along `axis`.
static Value placesAlong(nn::TensorBuilder &b, ArrayRef<int64_t> from,
                         int64_t axis, Value index) {
  SmallVector<int64_t> strides = stridesOf(from);
  Value place = times(b, index, strides[axis]);
  for (int64_t dim = 0; dim < (int64_t)from.size(); ++dim)
    if (dim != axis)
      place = plus(
          b, place,
          times(b, b.create<nn::IotaOp>(b.type(index), dim), strides[dim]));
  return place;
}

Value gpuopt::elementPlaces(NodeConversion &c, Value indices,
                            ArrayRef<int64_t> from, int64_t axis) {
  ArrayRef<int64_t> to = c.b.shape(indices);
  bool fits = to.size() == from.size();
  for (int64_t dim = 0; fits && dim < (int64_t)from.size(); ++dim)
    fits = dim == axis || to[dim] <= from[dim];
  if (!fits) {
    c.problem = "indices must have the operand's rank and, but for the axis, "
                "be no larger";
    return {};
  }
  if (auto numbers = integersOf(indices))
    return constantElements(c, *numbers, to, from, axis);
  if (from[axis] == 0) {
    c.problem = "the dimension has no entries to pick";
    return {};
  }
  Value index = inRange(c, normalised(c, indices, from[axis]), from[axis]);
  return placesAlong(c.b, from, axis, index);
}

Value gpuopt::takePlaces(nn::TensorBuilder &b, Value x, Value places) {
  Value row = b.reshape(x, {b.type(x).getNumElements()});
  return b.create<nn::TakeOp>(row, places);
}

Value gpuopt::takeAlong(nn::TensorBuilder &b, Value x, int64_t axis,
                        Value index) {
  return takePlaces(b, x, placesAlong(b, b.shape(x), axis, index));
}
