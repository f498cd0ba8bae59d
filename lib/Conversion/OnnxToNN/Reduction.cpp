//===- Reduction.cpp - Sums, means, extremes over dimensions --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the dimensions to reduce: all if the node names none.
static std::optional<SmallVector<int64_t>> dimsOf(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  auto dims = axesOf(c, 1, rank);
  if (!dims && !c.problem.empty())
    return std::nullopt;
  if (!dims || dims->empty()) {
    if (c.node.getInt("noop_with_empty_axes", 0))
      return SmallVector<int64_t>();
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  llvm::sort(*dims);
  return dims;
}

static LogicalResult finish(NodeConversion &c, Value reduced,
                            ArrayRef<int64_t> dims) {
  if (c.node.getInt("keepdims", 1))
    return c.yield(reduced);
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::enumerate(c.b.shape(reduced)))
    if (!llvm::is_contained(dims, (int64_t)dim))
      shape.push_back(size);
  return c.yield(c.b.reshape(reduced, shape));
}

/// Reduces with `before` applied to the elements and `after` to the results.
template <typename Before, typename After>
static LogicalResult reduction(NodeConversion &c, nn::ReductionKind kind,
                               Before before, After after) {
  if (!c.isFloat(0))
    return c.fail("integer operands are not supported");
  auto dims = dimsOf(c);
  if (!dims)
    return failure();
  int64_t count = 1;
  for (int64_t dim : *dims)
    count *= c.type(0).getDimSize(dim);
  return finish(c, after(c.b.reduce(kind, before(c.input(0)), *dims), count),
                *dims);
}

//===----------------------------------------------------------------------===//
// Sum, product, extremes
//===----------------------------------------------------------------------===//

static APInt combine(nn::ReductionKind kind, const APInt &a, const APInt &b) {
  switch (kind) {
  case nn::ReductionKind::Sum:
    return a + b;
  case nn::ReductionKind::Prod:
    return a * b;
  case nn::ReductionKind::Max:
    return llvm::APIntOps::smax(a, b);
  case nn::ReductionKind::Min:
    return llvm::APIntOps::smin(a, b);
  }
  llvm_unreachable("all kinds are listed");
}

/// Reduces constant integers, as in computations of shapes.
static Value reduceConstant(NodeConversion &c, DenseElementsAttr data,
                            nn::ReductionKind kind, ArrayRef<int64_t> dims) {
  ArrayRef<int64_t> from = c.type(0).getShape();
  SmallVector<int64_t> to(from), index(from.size(), 0);
  for (int64_t dim : dims)
    to[dim] = 1;
  RankedTensorType type = c.type(0).clone(to);
  SmallVector<std::optional<APInt>> reduced(type.getNumElements());
  for (const APInt &element : data.getValues<APInt>()) {
    int64_t place = 0;
    for (size_t dim = 0; dim < from.size(); ++dim)
      place = place * to[dim] + (to[dim] == 1 ? 0 : index[dim]);
    std::optional<APInt> &result = reduced[place];
    result = result ? combine(kind, *result, element) : element;
    for (int64_t dim = from.size() - 1; dim >= 0 && ++index[dim] == from[dim];
         --dim)
      index[dim] = 0;
  }
  auto values = llvm::map_to_vector(
      reduced, [](const std::optional<APInt> &value) { return *value; });
  return c.b.create<arith::ConstantOp>(DenseElementsAttr::get(type, values));
}

template <nn::ReductionKind kind>
static LogicalResult reducePlainly(NodeConversion &c) {
  if (c.type(0).getElementType().isInteger(1)) {
    auto dims = dimsOf(c);
    if (!dims)
      return failure();
    Value reduced =
        c.b.reduce(kind, c.b.toFloat(c.input(0), c.b.getF32Type()), *dims);
    Value isTrue = c.b.compare(arith::CmpFPredicate::OGT, reduced,
                               c.b.splat(0, c.b.type(reduced)));
    return finish(c, isTrue, *dims);
  }
  auto same = [](Value value, auto...) { return value; };
  DenseElementsAttr data = constantOf(c.input(0));
  if (c.isFloat(0))
    return reduction(c, kind, same, same);
  auto dims = dimsOf(c);
  if (!dims)
    return failure();
  if (data && !data.empty()) {
    if (!c.canCompute(data.getNumElements()))
      return failure();
    return finish(c, reduceConstant(c, data, kind, *dims), *dims);
  }
  if (kind == nn::ReductionKind::Prod)
    return c.fail("integer operands must be constants" + c.whatDecides(0));
  Value reduced = c.b.reduce(kind, inDouble(c.b, c.input(0)), *dims);
  return finish(c, fromDouble(c.b, reduced, c.type(0).getElementType()), *dims);
}

//===----------------------------------------------------------------------===//
// What is made of them
//===----------------------------------------------------------------------===//

static LogicalResult reduceMean(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [](Value x) { return x; },
      [&](Value y, int64_t n) { return c.b.mul(y, 1.0 / n); });
}
static LogicalResult reduceSumSquare(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [&](Value x) { return c.b.mul(x, x); },
      [](Value y, int64_t) { return y; });
}
static LogicalResult reduceL2(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [&](Value x) { return c.b.mul(x, x); },
      [&](Value y, int64_t) { return rootOf(c.b, y, 2); });
}
static LogicalResult reduceL1(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum,
      [&](Value x) { return c.b.create<math::AbsFOp>(x).getResult(); },
      [](Value y, int64_t) { return y; });
}

static LogicalResult reduceLogSum(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [](Value x) { return x; },
      [&](Value y, int64_t) { return c.b.log(y); });
}

/// Converts log(sum(exp(x - shift))) + shift, where shift is the largest
/// element, or 0 if that is infinite.
static LogicalResult reduceLogSumExp(NodeConversion &c) {
  if (!c.isFloat(0))
    return c.fail("integer operands are not supported");
  auto dims = dimsOf(c);
  if (!dims)
    return failure();
  Value max = c.b.reduce(nn::ReductionKind::Max, c.input(0), *dims);
  RankedTensorType type = c.b.type(max);
  Value magnitude = c.b.create<math::AbsFOp>(max);
  Value infinity = c.b.splat(std::numeric_limits<double>::infinity(), type);
  Value isInfinite =
      c.b.compare(arith::CmpFPredicate::OEQ, magnitude, infinity);
  Value shift = c.b.select(isInfinite, c.b.splat(0, type), max);
  Value sum = c.b.sum(c.b.exp(c.b.sub(c.input(0), shift)), *dims);
  return finish(c, c.b.add(c.b.log(sum), shift), *dims);
}

ArrayRef<OperatorEntry> gpuopt::reductionOperators() {
  using Kind = nn::ReductionKind;
  static const char integers[] = "integers up to 2^53",
                    floats[] = "floating-point operands";
  static const OperatorEntry entries[] = {
      {"ReduceL1", reduceL1, floats},
      {"ReduceL2", reduceL2, floats},
      {"ReduceLogSum", reduceLogSum, floats},
      {"ReduceLogSumExp", reduceLogSumExp, floats},
      {"ReduceMax", reducePlainly<Kind::Max>, integers},
      {"ReduceMean", reduceMean, floats},
      {"ReduceMin", reducePlainly<Kind::Min>, integers},
      {"ReduceProd", reducePlainly<Kind::Prod>,
       "integer operands are constants"},
      {"ReduceSum", reducePlainly<Kind::Sum>, integers},
      {"ReduceSumSquare", reduceSumSquare, floats}};
  return entries;
}
