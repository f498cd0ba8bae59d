//===- ValueRoles.cpp - What a kernel's values are ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The statistics of normalisations and softmax are results of one node each,
// and the names of nodes do not say which is which. The arithmetic does.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/ValueRoles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::device;

/// Returns the value that each iteration of a loop adds to result `number`;
/// of nested loops, that of the innermost one.
static Value contribution(LoopOp loop, unsigned number) {
  auto yield = cast<YieldOp>(loop.getBody().front().getTerminator());
  Value value = yield.getValues()[number];
  if (auto inner = value.getDefiningOp<LoopOp>())
    return contribution(inner, cast<OpResult>(value).getResultNumber());
  return value;
}

/// Whether `value` is a square root's argument as in a standard deviation: a
/// variance, or a mean of squares, and a small constant.
static bool isStabilised(Value value) {
  auto sum = value.getDefiningOp<arith::AddFOp>();
  return sum && (matchPattern(sum.getLhs(), m_Constant()) ||
                 matchPattern(sum.getRhs(), m_Constant()));
}

namespace {

class RoleFinder {
public:
  explicit RoleFinder(ArrayRef<StringRef> known) : known(known) {}

  StringRef roleOf(Value value) const {
    Operation *op = value.getDefiningOp();
    if (auto product = dyn_cast_or_null<arith::MulFOp>(op))
      return roleOfProduct(product);
    if (auto quotient = dyn_cast_or_null<arith::DivFOp>(op))
      return roleOfQuotient(quotient);
    return roleOfStatistic(value);
  }

private:
  StringRef roleOfStatistic(Value value) const {
    Operation *op = value.getDefiningOp();
    if (auto loop = dyn_cast_or_null<LoopOp>(op))
      return roleOfLoop(loop, cast<OpResult>(value).getResultNumber());
    if (auto root = dyn_cast_or_null<math::RsqrtOp>(op))
      return isStabilised(root.getOperand()) ? "rstd" : "";
    if (auto load = dyn_cast_or_null<LoadOp>(op))
      if (auto pointer = dyn_cast<BlockArgument>(load.getPointer()))
        return known[pointer.getArgNumber()];
    return "";
  }

  static StringRef roleOfLoop(LoopOp loop, unsigned number) {
    switch (loop.getCombiner(number)) {
    case Combiner::Max:
      return "largest";
    case Combiner::Min:
      return "smallest";
    case Combiner::Prod:
      return "";
    case Combiner::Sum:
    case Combiner::SumExp:
      break;
    }
    Value value = contribution(loop, number);
    auto square = value.getDefiningOp<arith::MulFOp>();
    if (square && square.getLhs() == square.getRhs() &&
        square.getLhs().getDefiningOp<arith::SubFOp>())
      return "squared_deviations";
    return "total";
  }

  /// Whether `value` is a count of at least 2 elements or, with `isShare`, one
  /// divided by such a count.
  static bool isCount(Value value, bool isShare) {
    FloatAttr number;
    if (!matchPattern(value, m_Constant(&number)))
      return false;
    double factor = number.getValueAsDouble();
    double count = isShare ? 1 / factor : factor;
    // One divided by a count has been rounded to the type of the elements.
    return count >= 1.5 && std::abs(count / std::round(count) - 1) < 1e-6;
  }

  StringRef roleOfProduct(arith::MulFOp op) const {
    StringRef left = roleOfStatistic(op.getLhs()),
              right = roleOfStatistic(op.getRhs());
    if ((left == "total" && isCount(op.getRhs(), /*isShare=*/true)) ||
        (right == "total" && isCount(op.getLhs(), /*isShare=*/true)))
      return "mean";
    if ((right == "rstd" && op.getLhs().getDefiningOp<arith::SubFOp>()) ||
        (left == "rstd" && op.getRhs().getDefiningOp<arith::SubFOp>()))
      return "normalised";
    return "";
  }

  StringRef roleOfQuotient(arith::DivFOp op) const {
    auto loop = op.getRhs().getDefiningOp<LoopOp>();
    if (!loop)
      return roleOfStatistic(op.getLhs()) == "total" &&
                     isCount(op.getRhs(), /*isShare=*/false)
                 ? "mean"
                 : "";
    Value value =
        contribution(loop, cast<OpResult>(op.getRhs()).getResultNumber());
    return value.getDefiningOp<math::ExpOp>() ? "probabilities" : "";
  }

  ArrayRef<StringRef> known;
};

} // namespace

StringRef device::roleOfValue(Value value, ArrayRef<StringRef> known) {
  return RoleFinder(known).roleOf(value);
}

SmallVector<StringRef> device::rolesOfResults(KernelOp kernel,
                                              ArrayRef<StringRef> known) {
  SmallVector<StringRef> roles(kernel.getBody().getNumArguments());
  kernel.walk([&](StoreOp store) {
    if (auto pointer = dyn_cast<BlockArgument>(store.getPointer()))
      roles[pointer.getArgNumber()] = roleOfValue(store.getValue(), known);
  });
  return roles;
}

BlockArgument device::summedArgument(Value value) {
  if (auto combine = value.getDefiningOp<CombineGroupsOp>())
    value = combine.getValue();
  auto loop = value.getDefiningOp<LoopOp>();
  if (!loop)
    return {};
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (loop.getCombiner(number) != Combiner::Sum)
    return {};
  Value element = contribution(loop, number);
  if (auto wide = element.getDefiningOp<arith::ExtFOp>())
    element = wide.getIn();
  auto load = element.getDefiningOp<LoadOp>();
  return load ? dyn_cast<BlockArgument>(load.getPointer()) : BlockArgument();
}
