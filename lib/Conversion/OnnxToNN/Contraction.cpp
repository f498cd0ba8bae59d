//===- Contraction.cpp - Matrix products ----------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Converters.h"

#include "mlir/Dialect/Traits.h"

using namespace mlir;
using namespace gpuopt;

static LogicalResult failOnInnerDimensions(NodeConversion &c, int64_t lhs,
                                           int64_t rhs) {
  return c.fail("the inner dimensions " + Twine(lhs) + " and " + Twine(rhs) +
                " of operands of shapes " +
                shapesText(c.b, {c.input(0), c.input(1)}) + " differ");
}

/// Converts NumPy's matmul. Batch dimensions of size 1 are repeated. If the
/// right operand is a single matrix, all rows of the left one become rows of
/// one product.
static LogicalResult matMul(NodeConversion &c) {
  Value lhs = c.input(0), rhs = c.input(1);
  int64_t lhsRank = c.type(0).getRank(), rhsRank = c.type(1).getRank();
  if (lhsRank == 0 || rhsRank == 0)
    return c.fail("operands must not be scalars");
  int64_t inner = c.type(0).getShape().back();
  int64_t rhsInner = c.type(1).getDimSize(std::max<int64_t>(rhsRank - 2, 0));
  if (inner != rhsInner)
    return failOnInnerDimensions(c, inner, rhsInner);
  ArrayRef<int64_t> lhsBatch =
      c.b.shape(lhs).drop_back(std::min<int64_t>(lhsRank, 2));
  ArrayRef<int64_t> rhsBatch =
      c.b.shape(rhs).drop_back(std::min<int64_t>(rhsRank, 2));
  if (lhsBatch.size() > 12 || rhsBatch.size() > 12) // each takes a letter
    return c.fail("products of more than 12 batch dimensions are not "
                  "supported");
  std::string batch;
  if (!rhsBatch.empty() && !lhsBatch.empty()) {
    SmallVector<int64_t> common;
    if (!OpTrait::util::getBroadcastedShape(lhsBatch, rhsBatch, common))
      return c.fail("batch dimensions of operands of shapes " +
                    shapesText(c.b, {lhs, rhs}) +
                    " do not broadcast to each other");
    auto widen = [&](Value value, int64_t rank) {
      SmallVector<int64_t> shape(common);
      llvm::append_range(
          shape, c.b.shape(value).take_back(std::min<int64_t>(rank, 2)));
      return c.b.broadcast(value, shape);
    };
    lhs = widen(lhs, lhsRank);
    rhs = widen(rhs, rhsRank);
    for (size_t dim = 0; dim < common.size(); ++dim)
      batch += 'a' + dim;
  }
  auto freshLetters = [](char first, size_t count) {
    std::string letters;
    for (size_t index = 0; index < count; ++index)
      letters += first + index;
    return letters;
  };
  std::string lhsOwn =
      batch.empty() ? freshLetters('a', lhsBatch.size()) : batch;
  std::string rhsOwn =
      batch.empty() ? freshLetters('n', rhsBatch.size()) : batch;
  std::string lhsLetters = lhsOwn + (lhsRank > 1 ? "x" : "") + "y";
  std::string rhsLetters = rhsOwn + "y" + (rhsRank > 1 ? "z" : "");
  std::string result = (lhsBatch.empty() ? rhsOwn : lhsOwn) +
                       (lhsRank > 1 ? "x" : "") + (rhsRank > 1 ? "z" : "");
  return c.yield(c.b.create<nn::ContractOp>(
      lhsLetters + "," + rhsLetters + "->" + result, lhs, rhs));
}

static LogicalResult gemm(NodeConversion &c) {
  if (c.type(0).getRank() != 2 || c.type(1).getRank() != 2)
    return c.fail("operands must be matrices");
  bool transA = c.node.getInt("transA", 0), transB = c.node.getInt("transB", 0);
  int64_t inner = c.type(0).getDimSize(transA ? 0 : 1),
          rhsInner = c.type(1).getDimSize(transB ? 1 : 0);
  if (inner != rhsInner)
    return failOnInnerDimensions(c, inner, rhsInner);
  std::string spec =
      std::string(transA ? "ki" : "ik") + "," + (transB ? "jk" : "kj") + "->ij";
  Value result = c.b.create<nn::ContractOp>(spec, c.input(0), c.input(1));
  if (double alpha = c.node.getFloat("alpha", 1); alpha != 1)
    result = c.b.mul(result, alpha);
  if (!c.has(2))
    return c.yield(result);
  auto common = c.commonShape({result, c.input(2)});
  if (!common)
    return failure();
  if (ArrayRef(*common) != c.b.shape(result))
    return c.fail("operand 2 must broadcast to the product");
  Value bias = c.input(2);
  if (double beta = c.node.getFloat("beta", 1); beta != 1)
    bias = c.b.mul(bias, beta);
  return c.yield(c.b.add(result, bias));
}

ArrayRef<OperatorEntry> gpuopt::contractionOperators() {
  static const OperatorEntry entries[] = {
      {"Gemm", gemm, "floating-point operands"},
      {"MatMul", matMul, "floating-point operands"}};
  return entries;
}
