//===- FastFunctions.cpp - Functions that may be approximate --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/FastFunctions.h"

#include "gpuopt/Analysis/Kernels/LeastValues.h"
#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gpuopt;

using arith::FastMathFlags;

/// As benchmarks/lane_instructions.py counts them.
static constexpr double kFastExp = 2, kFastTanh = 6, kFastDivision = 2;

/// The argument of a GELU's tanh, which has the cube of a sum with a bias, is
/// less deep than this.
static constexpr unsigned kMostDepth = 10;

/// Whether `value` is a number of f16 or bf16 in a wider type.
static bool isWidenedHalf(Value value) {
  auto widened = value.getDefiningOp<arith::ExtFOp>();
  return widened &&
         getElementTypeOrSelf(widened.getIn()).getIntOrFloatBitWidth() == 16;
}

/// Whether a number of half precision is among those that `value` is a sum or a
/// product of.
static bool dependsOnHalf(Value value, unsigned depth) {
  value = skipBroadcasts(value);
  if (isWidenedHalf(value))
    return true;
  Operation *op = value.getDefiningOp();
  return depth > 0 && isa_and_nonnull<arith::AddFOp, arith::MulFOp>(op) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return dependsOnHalf(operand, depth - 1);
         });
}

static bool isOne(Value value) {
  APFloat number(0.0f);
  return matchPattern(skipBroadcasts(value), m_ConstantFloat(&number)) &&
         number.isExactlyValue(1.0);
}

/// Whether all that is made of `t` is 1 + t and 1 - t t.
static bool isOnlyBesideOne(Value t) {
  return llvm::all_of(t.getUsers(), [&](Operation *user) {
    if (isa<arith::AddFOp>(user))
      return isOne(user->getOperand(0)) || isOne(user->getOperand(1));
    bool isSquare = isa<arith::MulFOp>(user) && user->getOperand(0) == t &&
                    user->getOperand(1) == t;
    return isSquare && llvm::all_of(user->getUsers(), [](Operation *next) {
             return isa<arith::SubFOp>(next) && isOne(next->getOperand(0));
           });
  });
}

bool gpuopt::allowsFastFunction(Operation *op) {
  if (!isa<math::ExpOp, math::TanhOp>(op) ||
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    return false;
  Value argument = op->getOperand(0);
  if (isa<math::TanhOp>(op))
    return dependsOnHalf(argument, kMostDepth) &&
           isOnlyBesideOne(op->getResult(0));
  auto shifted = argument.getDefiningOp<arith::SubFOp>();
  return shifted && isWidenedHalf(shifted.getLhs());
}

/// Returns the flag of ops of this kind that are fast, or none.
static FastMathFlags fastFlagOf(Operation *op) {
  if (isa<math::ExpOp, math::TanhOp>(op))
    return FastMathFlags::afn;
  return isa<arith::DivFOp>(op) ? FastMathFlags::arcp : FastMathFlags::none;
}

static FastMathFlags flagsOf(Operation *op) {
  auto typed = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr flags =
      typed ? typed.getFastMathFlagsAttr() : arith::FastMathFlagsAttr();
  return flags ? flags.getValue() : FastMathFlags::none; // casts may have none
}

bool gpuopt::isFast(Operation *op) {
  return bitEnumContainsAny(flagsOf(op), fastFlagOf(op));
}

bool gpuopt::markFastMath(Operation *op) {
  auto quotient = dyn_cast<arith::DivFOp>(op);
  bool isAllowed =
      quotient ? dividesByNormalNumber(quotient) : allowsFastFunction(op);
  if (!isAllowed || isFast(op))
    return false;
  op->setAttr("fastmath", arith::FastMathFlagsAttr::get(
                              op->getContext(), flagsOf(op) | fastFlagOf(op)));
  return true;
}

double gpuopt::fastInstructionsOf(Operation *op) {
  if (isa<arith::DivFOp>(op))
    return kFastDivision;
  return isa<math::TanhOp>(op) ? kFastTanh : kFastExp;
}
