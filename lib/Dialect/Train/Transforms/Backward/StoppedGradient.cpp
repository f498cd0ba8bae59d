//===- StoppedGradient.cpp - Where no gradient passes ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Backward/StoppedGradient.h"

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/ElementwiseVjp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace gpuopt;

static bool stops(Operation &op) {
  if (op.hasAttr(nn::kStraightThrough))
    return false;
  if (op.hasAttr(nn::kStopsGradient))
    return true;
  return isa<math::CeilOp, math::FloorOp, math::RoundEvenOp>(op) ||
         llvm::none_of(op.getResultTypes(), [](Type type) {
           return isa<FloatType>(getElementTypeOrSelf(type));
         });
}

/// Returns what can pass a gradient on: all operands but the condition of a
/// selection.
static OperandRange passingOperands(Operation &op) {
  return op.getOperands().drop_front(isa<arith::SelectOp>(op));
}

/// Returns the first op on a path from one of `sources` to `target` that lets
/// no gradient pass, and behind which one does; null if there is none. The path
/// leads through the conditions of selections where `throughConditions`.
static Operation *findStoppingOp(Value target, ArrayRef<Value> sources,
                                 bool throughConditions) {
  auto operandsOf = [&](Operation &op) {
    return throughConditions ? OperandRange(op.getOperands())
                             : passingOperands(op);
  };
  llvm::DenseSet<Value> fromSources(sources.begin(), sources.end());
  for (Operation &op : *target.getParentBlock())
    if (llvm::any_of(operandsOf(op), [&](Value operand) {
          return fromSources.contains(operand);
        }))
      fromSources.insert(op.result_begin(), op.result_end());
  llvm::DenseSet<Operation *> towardsTarget;
  SmallVector<Value> work{target};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (op && towardsTarget.insert(op).second && !stops(*op))
      llvm::append_range(work, operandsOf(*op));
  }
  for (Operation &op : *target.getParentBlock())
    if (towardsTarget.contains(&op) && op.getNumResults() &&
        fromSources.contains(op.getResult(0)) && op.getNumOperands() &&
        stops(op))
      return &op;
  return nullptr;
}

LogicalResult gpuopt::train::refuseWithoutGradients(Operation *forward,
                                                    Value target,
                                                    ArrayRef<Value> sources) {
  InFlightDiagnostic error =
      forward->emitError("expects a parameter that the loss depends on, but ");
  Operation *stop = findStoppingOp(target, sources, false);
  if (!stop) // a condition alone depends on a parameter
    stop = findStoppingOp(target, sources, true);
  if (stop)
    return error
           << "no gradient passes '" << nameOf(stop->getLoc())
           << "', which stops it, or whose result is of integers or changes "
              "in steps";
  return error << "there is none; frozen parameters and integer tensors are "
                  "not trained";
}
