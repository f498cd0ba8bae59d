//===- Reduction.cpp - Sums, means, extremes over dimensions --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

using namespace mlir;
using namespace gpuopt;

/// The dimensions to reduce; all where the node names none.
static std::optional<SmallVector<int64_t>> dimsOf(NodeConversion &c) {
  int64_t rank = c.type(0).getRank();
  auto dims = c.node.getInts("axes");
  if (!dims && c.has(1) && !(dims = c.constantInts(1)))
    return std::nullopt;
  if (!dims || dims->empty()) {
    if (c.node.getInt("noop_with_empty_axes", 0))
      return SmallVector<int64_t>();
    return llvm::to_vector(llvm::seq<int64_t>(0, rank));
  }
  for (int64_t &dim : *dims) {
    auto fromFront = c.axis(dim, rank);
    if (!fromFront)
      return std::nullopt;
    dim = *fromFront;
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

/// `before` and `after` are done to the elements and to the results.
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

static LogicalResult reduceSum(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [](Value x) { return x; },
      [](Value y, int64_t) { return y; });
}
static LogicalResult reduceMean(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [](Value x) { return x; },
      [&](Value y, int64_t n) { return c.b.mul(y, 1.0 / n); });
}
static LogicalResult reduceMax(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Max, [](Value x) { return x; },
      [](Value y, int64_t) { return y; });
}
static LogicalResult reduceMin(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Min, [](Value x) { return x; },
      [](Value y, int64_t) { return y; });
}
static LogicalResult reduceSumSquare(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [&](Value x) { return c.b.mul(x, x); },
      [](Value y, int64_t) { return y; });
}
static LogicalResult reduceL2(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum, [&](Value x) { return c.b.mul(x, x); },
      [&](Value y, int64_t) {
        return c.b.create<math::SqrtOp>(y).getResult();
      });
}
static LogicalResult reduceL1(NodeConversion &c) {
  return reduction(
      c, nn::ReductionKind::Sum,
      [&](Value x) { return c.b.create<math::AbsFOp>(x).getResult(); },
      [](Value y, int64_t) { return y; });
}

ArrayRef<OperatorEntry> gpuopt::reductionOperators() {
  static const OperatorEntry entries[] = {
      {"ReduceL1", reduceL1},
      {"ReduceL2", reduceL2},
      {"ReduceMax", reduceMax, "floating-point operands"},
      {"ReduceMean", reduceMean},
      {"ReduceMin", reduceMin, "floating-point operands"},
      {"ReduceSum", reduceSum, "floating-point operands"},
      {"ReduceSumSquare", reduceSumSquare}};
  return entries;
}
