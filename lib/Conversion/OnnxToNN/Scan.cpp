//===- Scan.cpp - Triangles of matrices, running sums ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Triangles
//===----------------------------------------------------------------------===//

/// Keeps the elements (r, c) of constants for which c - r is at least, or at
/// most, `diagonal`.
static Value triangleOfConstant(NodeConversion &c, DenseElementsAttr data,
                                bool upper, int64_t diagonal) {
  ArrayRef<int64_t> shape = c.type(0).getShape().take_back(2);
  Attribute zero = c.b.getIntegerAttr(data.getElementType(), 0);
  SmallVector<Attribute> elements(data.getValues<Attribute>());
  for (auto [index, element] : llvm::enumerate(elements)) {
    int64_t row = index / shape[1] % shape[0], column = index % shape[1];
    bool isIn = upper ? column - row >= diagonal : column - row <= diagonal;
    if (!isIn)
      element = zero;
  }
  return c.b.create<arith::ConstantOp>(
      DenseElementsAttr::get(c.type(0), elements));
}

/// Returns a diagonal with the same effect on a matrix of this type that is
/// small enough to calculate with.
static int64_t diagonalOf(int64_t given, RankedTensorType type) {
  int64_t furthest = llvm::sum_of(type.getShape().take_back(2));
  return std::clamp(given, -furthest, furthest);
}

static LogicalResult trilu(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  if (type.getRank() < 2)
    return c.fail("the operand must have rank 2 or more");
  int64_t diagonal = 0;
  if (c.has(1)) {
    auto given = c.constantInt(1);
    if (!given)
      return failure();
    diagonal = diagonalOf(*given, type);
  }
  bool upper = c.node.getInt("upper", 1);
  DenseElementsAttr data = constantOf(c.input(0));
  if (data && !c.isFloat(0) && !c.canCompute(data.getNumElements()))
    return failure();
  if (data && !c.isFloat(0))
    return c.yield(triangleOfConstant(c, data, upper, diagonal));
  RankedTensorType index = type.clone(c.b.getI64Type());
  Value row = c.b.create<nn::IotaOp>(index, type.getRank() - 2);
  Value column = c.b.create<nn::IotaOp>(index, type.getRank() - 1);
  Value edge = c.b.createOrFold<arith::AddIOp>(row, c.b.splat(diagonal, index));
  Value isIn =
      c.b.compare(upper ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle,
                  column, edge);
  return c.yield(c.b.select(isIn, c.input(0), c.b.splat(0, type)));
}

/// Builds ones on a diagonal, in the shape of a matrix.
static LogicalResult eyeLike(NodeConversion &c) {
  RankedTensorType type = c.type(0);
  if (auto dtype = c.node.getInt("dtype")) {
    Type element = elementTypeOf(c.b, *dtype);
    if (!element)
      return c.fail("attribute dtype = " + Twine(*dtype) + " is not supported");
    type = type.clone(element);
  }
  if (type.getRank() != 2)
    return c.fail("the operand must have rank 2");
  int64_t diagonal = diagonalOf(c.node.getInt("k", 0), type);
  RankedTensorType index = type.clone(c.b.getI64Type());
  if (isa<FloatType>(type.getElementType())) {
    Value row = c.b.create<nn::IotaOp>(index, 0);
    Value column = c.b.create<nn::IotaOp>(index, 1);
    Value on = c.b.createOrFold<arith::AddIOp>(row, c.b.splat(diagonal, index));
    return c.yield(
        c.b.toFloat(c.b.compare(arith::CmpIPredicate::eq, column, on),
                    type.getElementType()));
  }
  if (!c.canCompute(type.getNumElements()))
    return failure();
  SmallVector<Attribute> elements;
  for (int64_t row = 0; row < type.getDimSize(0); ++row)
    for (int64_t column = 0; column < type.getDimSize(1); ++column)
      elements.push_back(
          c.b.getIntegerAttr(type.getElementType(), column - row == diagonal));
  return c.yield(
      c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, elements)));
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

namespace {
/// The elements that each result sums up: the elements before it or, reversed,
/// after it, with or without the element at its own place.
struct Scan {
  bool exclusive, reverse;

  arith::CmpIPredicate predicate() const {
    using P = arith::CmpIPredicate;
    return reverse ? (exclusive ? P::sgt : P::sge)
                   : (exclusive ? P::slt : P::sle);
  }
};
} // namespace

/// Returns the running sums, or products, of constants.
static Value scanIntegers(NodeConversion &c, DenseElementsAttr data,
                          int64_t axis, Scan scan, bool isProduct) {
  int64_t inner = 1, size = c.type(0).getDimSize(axis);
  for (int64_t next : c.type(0).getShape().drop_front(axis + 1))
    inner *= next;
  SmallVector<APInt> elements(data.getValues<APInt>()), sums(elements);
  for (size_t begin = 0; begin < elements.size(); ++begin) {
    if ((int64_t)(begin / inner) % size != 0)
      continue;
    APInt sum(elements[begin].getBitWidth(), isProduct);
    for (int64_t i = 0; i < size; ++i) {
      size_t at = begin + (scan.reverse ? size - 1 - i : i) * inner;
      APInt next = isProduct ? sum * elements[at] : sum + elements[at];
      sums[at] = scan.exclusive ? sum : next;
      sum = next;
    }
  }
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(c.type(0), sums));
}

/// Multiplies by a triangle of ones.
static Value multiplyByTriangle(nn::TensorBuilder &b, Value x, int64_t axis,
                                Scan scan) {
  int64_t size = b.shape(x)[axis];
  auto index = RankedTensorType::get({size, size}, b.getI64Type());
  Value isAdded = b.compare(scan.predicate(), b.create<nn::IotaOp>(index, 0),
                            b.create<nn::IotaOp>(index, 1)); // [from, to]
  Value ones = b.toFloat(isAdded, b.type(x).getElementType());
  return multiplyAlong(b, x, axis, ones);
}

/// The size of the chunks that a long dimension is cut into.
static constexpr int64_t kChunk = 128;

/// Returns how many dimensions a sum along `size` elements adds: one for the
/// chunks, one for the chunks of their sums, and so on.
static int64_t addedDimensions(int64_t size) {
  int64_t added = 0;
  for (; size > kChunk; size = llvm::divideCeil(size, kChunk))
    ++added;
  return added;
}

/// Cuts a long dimension into chunks: computes sums within each, and adds the
/// sum of the chunks before it.
static Value runningSum(nn::TensorBuilder &b, Value x, int64_t axis,
                        Scan scan) {
  SmallVector<int64_t> shape(b.shape(x));
  int64_t size = shape[axis], chunks = llvm::divideCeil(size, kChunk);
  if (chunks <= 1)
    return multiplyByTriangle(b, x, axis, scan);
  SmallVector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1),
      high(zeros);
  if ((high[axis] = chunks * kChunk - size))
    x = b.create<nn::PadOp>(x, zeros, high, zeros,
                            b.getFloatAttr(b.type(x).getElementType(), 0));
  SmallVector<int64_t> split(shape), whole(shape);
  whole[axis] = chunks * kChunk;
  split[axis] = chunks;
  split.insert(split.begin() + axis + 1, kChunk);
  x = b.reshape(x, split);
  Value within = multiplyByTriangle(b, x, axis + 1, scan);
  Value before = runningSum(b, b.sum(x, axis + 1), axis, {true, scan.reverse});
  Value sums = b.reshape(b.add(within, before), whole);
  return b.createOrFold<nn::SliceOp>(sums, zeros, shape, ones);
}

/// Multiplies for each result the elements before it, and ones in place of the
/// others.
static Value runningProduct(nn::TensorBuilder &b, Value x, int64_t axis,
                            Scan scan) {
  SmallVector<int64_t> shape(b.shape(x)), pairs(shape), from(shape);
  int64_t size = shape[axis];
  pairs.insert(pairs.begin() + axis + 1, size); // [..., from, to, ...]
  from.insert(from.begin() + axis + 1, 1);
  auto index = RankedTensorType::get(pairs, b.getI64Type());
  Value isFactor =
      b.compare(scan.predicate(), b.create<nn::IotaOp>(index, axis),
                b.create<nn::IotaOp>(index, axis + 1));
  Value factors = b.select(isFactor, b.reshape(x, from),
                           b.splat(1, b.type(x).clone(pairs)));
  return b.reshape(b.reduce(nn::ReductionKind::Prod, factors, axis), shape);
}

/// Each result of a running product looks at all elements.
static constexpr int64_t kLongestProduct = 4096;

template <bool isProduct>
static LogicalResult runningScan(NodeConversion &c) {
  auto given = c.constantInt(1);
  if (!given)
    return failure();
  auto axis = c.axis(*given, c.type(0).getRank());
  if (!axis)
    return failure();
  Scan scan{c.node.getInt("exclusive", 0) != 0,
            c.node.getInt("reverse", 0) != 0};
  if (isProduct && c.type(0).getDimSize(*axis) > kLongestProduct)
    return c.fail("a product of more than " + Twine(kLongestProduct) +
                  " elements is not supported");
  bool isComputed = !c.isFloat(0) && constantOf(c.input(0));
  if (!isProduct && !isComputed &&
      !c.hasLetters(c.type(0).getRank(),
                    addedDimensions(c.type(0).getDimSize(*axis))))
    return failure();
  auto run = isProduct ? runningProduct : runningSum;
  if (c.isFloat(0))
    return c.yield(run(c.b, c.input(0), *axis, scan));
  if (DenseElementsAttr data = constantOf(c.input(0))) {
    if (!c.canCompute(data.getNumElements()))
      return failure();
    return c.yield(scanIntegers(c, data, *axis, scan, isProduct));
  }
  Value results = run(c.b, inDouble(c.b, c.input(0)), *axis, scan);
  return c.yield(fromDouble(c.b, results, c.type(0).getElementType()));
}

ArrayRef<OperatorEntry> gpuopt::scanOperators() {
  static const OperatorEntry entries[] = {
      {"CumProd", runningScan<true>,
       "dimensions of up to 4096, products of integers up to 2^53"},
      {"CumSum", runningScan<false>, "sums of integers up to 2^53"},
      {"EyeLike", eyeLike},
      {"Trilu", trilu}};
  return entries;
}
