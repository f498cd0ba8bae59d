//===- LeastValues.cpp - How small values can be --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/LeastValues.h"

#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace gpuopt;

static constexpr double kUnknown = -std::numeric_limits<double>::infinity();
/// Denominators are a few ops deep. What is deeper is not looked at.
static constexpr int kMostDepth = 12;

static double leastOf(Value value, int depth);

static double leastConstant(arith::ConstantOp op) {
  auto elements = dyn_cast<DenseFPElementsAttr>(op.getValue());
  if (!elements || !elements.isSplat())
    return kUnknown;
  APFloat number = elements.getSplatValue<APFloat>();
  return number.isNaN() ? kUnknown
                        : FloatAttr::getValueAsDouble(std::move(number));
}

static double leastProduct(arith::MulFOp op, int depth) {
  if (skipBroadcasts(op.getLhs()) == skipBroadcasts(op.getRhs()))
    return 0;
  double a = leastOf(op.getLhs(), depth), b = leastOf(op.getRhs(), depth);
  return a >= 0 && b >= 0 ? a * b : kUnknown;
}

static double leastQuotient(arith::DivFOp op, int depth) {
  return leastOf(op.getLhs(), depth) >= 0 && leastOf(op.getRhs(), depth) >= 0
             ? 0
             : kUnknown;
}

static double leastRoot(math::SqrtOp op, int depth) {
  return std::sqrt(std::max(0., leastOf(op.getOperand(), depth)));
}

/// Returns the condition under which `value` is not `kept`, if it selects so;
/// null otherwise.
static Value exceptionTo(Value value, Value &kept) {
  auto select = skipBroadcasts(value).getDefiningOp<arith::SelectOp>();
  if (!select)
    return nullptr;
  kept = skipBroadcasts(select.getFalseValue());
  return skipBroadcasts(select.getCondition());
}

/// Whether `value` is the sum over a row of exp(x - max x), which is at least
/// 1: the largest element adds exp(0). If `exception` is not null, it need not
/// be so in rows where this holds.
static bool isSumOfShiftedExp(Value value, Value exception) {
  auto sum = value.getDefiningOp<nn::ReduceOp>();
  arith::SubFOp shifted = sum ? shiftUnderSum(sum) : arith::SubFOp();
  if (!shifted)
    return false;
  Value shift = skipBroadcasts(shifted.getRhs()), kept;
  if (exception && exceptionTo(shift, kept) == exception)
    shift = kept;
  return maximumAsShift(shift, shifted, sum.getDims()) != nullptr;
}

static double leastSum(nn::ReduceOp op, int depth) {
  if (isSumOfShiftedExp(op.getResult(), nullptr))
    return 1;
  double each = leastOf(op.getInput(), depth);
  switch (op.getKind()) {
  case nn::ReductionKind::Max:
  case nn::ReductionKind::Min:
    return each;
  case nn::ReductionKind::Sum:
    return each >= 0 ? each : kUnknown;
  case nn::ReductionKind::Prod:
    return each >= 0 ? 0 : kUnknown;
  }
  llvm_unreachable("all kinds are listed");
}

static double leastChoice(arith::SelectOp op, int depth) {
  double chosen = leastOf(op.getTrueValue(), depth);
  Value kept, exception = exceptionTo(op.getResult(), kept);
  double other = isSumOfShiftedExp(kept, exception) ? 1 : leastOf(kept, depth);
  return std::min(chosen, other);
}

static double leastOf(Value value, int depth) {
  value = skipBroadcasts(value);
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return kUnknown;
  --depth;
  auto operand = [&](unsigned i) { return leastOf(op->getOperand(i), depth); };
  return llvm::TypeSwitch<Operation *, double>(op)
      .Case([](arith::ConstantOp typed) { return leastConstant(typed); })
      .Case<math::ExpOp, math::AbsFOp>([](auto) { return 0; })
      .Case([&](arith::AddFOp) { return operand(0) + operand(1); })
      .Case([&](arith::MulFOp typed) { return leastProduct(typed, depth); })
      .Case([&](arith::DivFOp typed) { return leastQuotient(typed, depth); })
      .Case([&](math::SqrtOp typed) { return leastRoot(typed, depth); })
      .Case([&](arith::MaximumFOp) { return std::max(operand(0), operand(1)); })
      .Case([&](arith::MinimumFOp) { return std::min(operand(0), operand(1)); })
      .Case<arith::ExtFOp, arith::TruncFOp>([&](auto) { return operand(0); })
      .Case([&](arith::SelectOp typed) { return leastChoice(typed, depth); })
      .Case([&](nn::ReduceOp typed) { return leastSum(typed, depth); })
      .Default([](Operation *) { return kUnknown; });
}

double gpuopt::leastValueOf(Value value) { return leastOf(value, kMostDepth); }

bool gpuopt::dividesByNormalNumber(arith::DivFOp op) {
  auto type = cast<RankedTensorType>(op.getType()).getElementType();
  return !type.isF64() && leastValueOf(op.getRhs()) >= 0x1p-100;
}
