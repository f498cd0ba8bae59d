//===- TrainCosts.cpp - The work of ops on variables ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Interfaces/ViewTrait.h"
#include "gpuopt/Support/TensorSize.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

// The cost model adds up the bytes of operands and results; there is no
// arithmetic to speak of.
double WriteOp::getFloatingPointOperations() { return 0; }
double DirectionOp::getFloatingPointOperations() { return 0; }
double UpdateOp::getFloatingPointOperations() { return 0; }

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

/// Returns the type of the parameter of an update or direction, which is never
/// in half precision.
template <typename OpT>
static RankedTensorType parameterOf(OpT op) {
  auto gradient = cast<RankedTensorType>(op.getGradient().getType());
  return gradient.clone(gradient.getElementType().isF64()
                            ? gradient.getElementType()
                            : Float32Type::get(op.getContext()));
}

/// Adds the work of reading and writing each of the states.
template <typename OpT>
static void addStatesOf(OpT op, OpWork &work) {
  double state = 0;
  if (const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer()))
    for (const OptimizerState &kept : optimizer->states)
      if (op.getState(kept.name))
        if (auto type = optimizerStateType(kept, parameterOf(op)))
          state += sizeInBytes(type);
  work.bytesRead += state;
  work.bytesWritten += state;
}

/// Whether an update is done by the launch of the update before it
/// (device-form-multi-tensor-calls). Updates with scratch memory have their own
/// launches.
static bool isInLaunchBefore(UpdateOp op) {
  auto before = dyn_cast_or_null<UpdateOp>(op->getPrevNode());
  const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer());
  return before && before.getOptimizer() == op.getOptimizer() && optimizer &&
         !optimizer->scratch;
}

void DirectionOp::addOwnWork(OpWork &work) { addStatesOf(*this, work); }

/// The parameter is read and written, and its copy in half precision is only
/// written.
void UpdateOp::addOwnWork(OpWork &work) {
  addStatesOf(*this, work);
  double bytes = sizeInBytes(parameterOf(*this));
  work.bytesRead += bytes;
  work.bytesWritten += bytes + (getCopyAttr() ? bytes / 2 : 0);
  work.launches = isInLaunchBefore(*this) ? 0 : 1;
}

//===----------------------------------------------------------------------===//
// State
//===----------------------------------------------------------------------===//

/// Whether state is written by the launch that writes other state before it.
static bool isInLaunchBefore(WriteOp op) {
  Operation *before = op->getPrevNode();
  while (before && before->hasTrait<ViewTrait>())
    before = before->getPrevNode();
  auto other = dyn_cast_or_null<WriteOp>(before);
  auto elementOf = [](WriteOp write) {
    return cast<RankedTensorType>(write.getValue().getType()).getElementType();
  };
  return other && isa<FloatType>(elementOf(op)) &&
         elementOf(op) == elementOf(other);
}

void WriteOp::addOwnWork(OpWork &work) {
  work.launches = isInLaunchBefore(*this) ? 0 : 1;
}
