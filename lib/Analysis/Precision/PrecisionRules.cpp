//===- PrecisionRules.cpp - What must not be in half precision ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Precision/PrecisionRules.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Precision/PrecisionGraph.h"
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

/// Returns the op that makes a value. For an argument of a kernel, returns the
/// constant that the kernel reads there, or null if it reads anything else.
static Operation *makerOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return value.getDefiningOp();
  auto kernel =
      dyn_cast_or_null<nn::FusedOp>(argument.getOwner()->getParentOp());
  if (!kernel)
    return nullptr;
  Value read = kernel.getInputs()[argument.getArgNumber()];
  Operation *maker = bufferOf(read).getDefiningOp();
  return maker && maker->hasTrait<OpTrait::ConstantLike>() ? maker : nullptr;
}

/// Whether an op for which `finds` holds lies on a path to `value`. Paths end
/// at ops for which `ends` holds.
template <typename Finds, typename Ends>
static bool dependsOn(Value value, Finds finds, Ends ends) {
  SmallVector<Value> stack{value};
  llvm::DenseSet<Value> seen{value};
  while (!stack.empty()) {
    Operation *op = makerOf(stack.pop_back_val());
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

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Kernels in a row through which sums are followed.
static constexpr int kMostKernels = 4;

/// Whether a value is a sum or state, or computed from one with as many
/// elements, by one kernel or by several in a row.
static bool isMadeOfSumsOrState(Value value, int kernels = kMostKernels) {
  auto result = dyn_cast<OpResult>(value);
  if (!result || isa<train::ReadOp>(result.getOwner()))
    return result != nullptr;
  auto call = dyn_cast<RuntimeCallOpInterface>(result.getOwner());
  if (call && call.keepsType(result))
    return true;
  auto kernel = dyn_cast<nn::FusedOp>(result.getOwner());
  if (!kernel || kernels == 0)
    return false;
  if (isReduced(writtenValue(result)))
    return true;
  return llvm::any_of(kernel.getInputs(), [&](Value input) {
    Value source = bufferOf(input);
    return elementsOf(source) == elementsOf(result) &&
           isMadeOfSumsOrState(source, kernels - 1);
  });
}

/// Whether a value, or a view of it, is the gradient of a parameter, or read by
/// a kernel that works on tensors with several times as many elements.
static bool isGradientOrSpread(Value value, int64_t elements) {
  constexpr int64_t kTimes = 4;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (isViewOp(user))
      return isGradientOrSpread(user->getResult(0), elements);
    if (isa<train::GradNormOp, train::UpdateOp>(user))
      return true;
    return isa<nn::FusedOp>(user) &&
           llvm::any_of(user->getOperands(), [&](Value other) {
             return elementsOf(other) >= kTimes * elements;
           });
  });
}

/// Whether a result is a statistic of many values, such as the mean of a batch
/// norm or the gradient of its scale. To hold it in half precision would save
/// next to nothing, and its rounding would be that of all the values that are
/// computed with it.
static bool isStatistic(OpResult result) {
  return isGradientOrSpread(result, elementsOf(result)) &&
         isMadeOfSumsOrState(result);
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
// Reasons that lie with the readers
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
      if (isa<nn::ScanOp>(user))
        return "a loop reads it in fp32";
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
  if (isa<nn::ScanOp>(result.getOwner()))
    return "a loop computes it in fp32";
  if (StringRef reason = reasonOfReaders(result); !reason.empty())
    return reason;
  Value written = writtenValue(result);
  if (isa<nn::FusedOp>(result.getOwner()) && isReduced(written))
    return "it is a sum or made of sums";
  if (isa<nn::FusedOp>(result.getOwner()) && isStatistic(result))
    return "it is a statistic of many values";
  if (isa<nn::FusedOp>(result.getOwner()) &&
      hasLargeConstant(written, halfType))
    return "it has a constant that half precision cannot hold";
  return "";
}
