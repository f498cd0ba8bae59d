//===- PrecisionRules.cpp - What must not be in half precision ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PrecisionRules.h"

#include "gpuopt/Analysis/Buffers.h"
#include "gpuopt/Analysis/PrecisionGraph.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace gpuopt;

double gpuopt::largestOf(FloatType type) {
  return llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
}

Value gpuopt::writtenValue(OpResult result) {
  if (auto fused = dyn_cast<nn::FusedOp>(result.getOwner()))
    return fused.getBody().front().getTerminator()->getOperand(
        result.getResultNumber());
  return result;
}

//===----------------------------------------------------------------------===//
// Within a kernel
//===----------------------------------------------------------------------===//

/// Whether an op for which `finds` holds lies on a path to `value`. Paths end
/// at ops for which `ends` holds.
template <typename Finds, typename Ends>
static bool dependsOn(Value value, Finds finds, Ends ends) {
  SmallVector<Value> stack{value};
  llvm::DenseSet<Value> seen{value};
  while (!stack.empty()) {
    Operation *op = stack.pop_back_val().getDefiningOp();
    if (!op)
      continue;
    if (finds(op))
      return true;
    if (ends(op))
      continue;
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        stack.push_back(operand);
  }
  return false;
}

/// Whether a value is a sum, or computed from sums, with one element for each
/// row: a statistic or the gradient of a bias.
static bool isReduced(Value value) {
  return dependsOn(
      value,
      [](Operation *op) { return isa<nn::ReduceOp, nn::PartialSumOp>(op); },
      [](Operation *op) { return isa<nn::BroadcastOp>(op); });
}

static bool exceeds(APFloat value, double limit) {
  bool isLossy;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isLossy);
  return !(std::abs(value.convertToDouble()) <= limit);
}

static bool exceeds(Operation *op, double limit) {
  DenseFPElementsAttr values;
  if (!matchPattern(op, m_Constant(&values)))
    return false;
  if (values.isSplat()) // of any number of elements
    return exceeds(values.getSplatValue<APFloat>(), limit);
  return llvm::any_of(
      values, [&](const APFloat &value) { return exceeds(value, limit); });
}

/// Whether an op's result is about as large as its operand, so that a mask of
/// -1e9 is still there afterwards.
static bool keepsMagnitude(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp,
             arith::SelectOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, math::AbsFOp, nn::BroadcastOp,
             nn::ReduceOp>(op);
}

static bool hasLargeConstant(Value value, FloatType halfType) {
  double limit = largestOf(halfType);
  return dependsOn(
      value, [&](Operation *op) { return exceeds(op, limit); },
      [](Operation *op) { return !keepsMagnitude(op); });
}

//===----------------------------------------------------------------------===//
// By who reads
//===----------------------------------------------------------------------===//

/// Returns why ops that read the memory of `owner`, through views and sums of
/// products, keep it in f32; empty if none of them does.
static StringRef reasonOfReaders(Value owner) {
  SmallVector<Value> stack{owner};
  bool isSum = isUpdatedInPlace(owner.getDefiningOp());
  while (!stack.empty()) {
    for (Operation *user : stack.pop_back_val().getUsers()) {
      if (isViewOp(user) || isa<RuntimeCallOpInterface>(user))
        for (Value result : user->getResults())
          if (bufferOf(result) == owner)
            stack.push_back(result);
      if (isa<train::WriteOp>(user))
        return "it is state";
      if (isa<train::OutputOp>(user))
        return "it is an output of the model";
      if (isa<train::ReportLossOp>(user))
        return "it is the loss";
      if (isSum && isa<train::GradNormOp, train::AccumulateOp>(user))
        return "it is a sum of several products, the gradient of a parameter";
    }
  }
  return "";
}

StringRef gpuopt::reasonForFull(OpResult result, FloatType halfType) {
  auto call = dyn_cast<RuntimeCallOpInterface>(result.getOwner());
  if (call && call.getPrecisionRole() == PrecisionRole::Accumulation)
    return "many values are added up in it";
  if (call && call.keepsType(result))
    return "its kernel writes it in fp32";
  if (StringRef reason = reasonOfReaders(result); !reason.empty())
    return reason;
  Value written = writtenValue(result);
  if (isa<nn::FusedOp>(result.getOwner()) && isReduced(written))
    return "it is a sum or made of sums";
  if (isa<nn::FusedOp>(result.getOwner()) &&
      hasLargeConstant(written, halfType))
    return "it has a constant that half precision cannot hold";
  return "";
}
