//===- CostModel.cpp - Estimated time of ops ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/CostModel.h"

#include "gpuopt/Analysis/Buffers.h"
#include "gpuopt/Analysis/MeasuredCosts.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Interfaces/CostOpInterface.h"
#include "gpuopt/Support/TensorSize.h"

using namespace mlir;
using namespace gpuopt;

double gpuopt::bytesTouched(Value value) {
  std::optional<StridedView> view = viewOf(value);
  if (!view)
    return sizeInBytes(value);
  double elements = 1;
  for (auto [size, stride] : llvm::zip(view->sizes, view->strides))
    elements *= stride == 0 ? 1 : size;
  return elements * elementSizeInBytes(cast<RankedTensorType>(value.getType()));
}

/// Returns how many bytes of an operand a kernel reads: where it takes rows of
/// a table, only those rows.
static double bytesRead(nn::FusedOp op, unsigned input) {
  Value argument = op.getBody().getArgument(input);
  double taken = 0;
  for (OpOperand &use : argument.getUses()) {
    auto take = dyn_cast<nn::TakeOp>(use.getOwner());
    if (!take || take.getTable() != argument)
      return bytesTouched(op.getInputs()[input]);
    taken += sizeInBytes(take.getResult());
  }
  return std::min(taken, bytesTouched(op.getInputs()[input]));
}

double gpuopt::bytesReadBy(OpOperand &operand) {
  auto fused = dyn_cast<nn::FusedOp>(operand.getOwner());
  return fused ? bytesRead(fused, operand.getOperandNumber())
               : bytesTouched(operand.get());
}

static Type elementTypeOf(Operation *op) {
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType());
        type && isa<FloatType>(type.getElementType()))
      return type.getElementType();
  return Float32Type::get(op->getContext());
}

/// Returns the parameter of an update or direction, which is never in half
/// precision.
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
        if (auto type = train::optimizerStateType(kept, parameterOf(op)))
          state += sizeInBytes(type);
  work.bytesRead += state;
  work.bytesWritten += state;
}

/// Adds the work on the parameter: it is read and written, and its copy in half
/// precision is only written.
static void addParameterOf(train::UpdateOp op, OpWork &work) {
  double bytes = sizeInBytes(parameterOf(op));
  work.bytesRead += bytes;
  work.bytesWritten += bytes + (op.getCopyAttr() ? bytes / 2 : 0);
}

OpWork gpuopt::workOf(Operation *op) {
  OpWork work;
  // Transfers run at the same time as the step's other work (OffloadCost.h).
  bool isFree =
      isViewOp(op) || op->hasTrait<OpTrait::ConstantLike>() ||
      isa<train::ReadOp, nn::ConcatOp, train::OffloadOp, train::AwaitOffloadOp,
          train::ReloadOp, train::AwaitReloadOp>(op);
  if (isFree)
    return work;
  work.operations = floatingPointOperations(op);
  if (auto costly = dyn_cast<CostOpInterface>(op))
    work.onMatrixUnits = costly.usesMatrixUnits();
  work.elementType = elementTypeOf(op);
  for (OpOperand &operand : op->getOpOperands())
    work.bytesRead += bytesReadBy(operand);
  for (Value result : op->getResults())
    work.bytesWritten += sizeInBytes(result);
  if (auto direction = dyn_cast<train::DirectionOp>(op))
    addStatesOf(direction, work);
  if (auto update = dyn_cast<train::UpdateOp>(op)) {
    addStatesOf(update, work);
    addParameterOf(update, work);
  }
  return work;
}

OpWork gpuopt::workOfSlice(nn::FusedOp op, unsigned result,
                           const KernelSlice &slice) {
  OpWork work;
  work.elementType = elementTypeOf(op);
  for (Operation *inner : slice.ops)
    work.operations += floatingPointOperations(inner);
  for (unsigned input : slice.inputs)
    work.bytesRead += bytesRead(op, input);
  for (unsigned other : slice.results)
    work.bytesRead += sizeInBytes(op.getResult(other));
  work.bytesWritten = sizeInBytes(op.getResult(result));
  return work;
}

static double operationsPerSecond(const OpWork &work,
                                  const DeviceModel &device) {
  if (!work.onMatrixUnits)
    return device.vectorOperationsPerSecond;
  if (work.elementType.isF64())
    return device.f64ProductsPerSecond;
  if (work.elementType.isF16())
    return device.f16ProductsPerSecond;
  if (work.elementType.isBF16())
    return device.bf16ProductsPerSecond;
  return device.f32ProductsPerSecond;
}

double gpuopt::timeInNanoseconds(const OpWork &work,
                                 const DeviceModel &device) {
  double bytes = work.bytesRead + work.bytesWritten;
  if (work.operations == 0 && bytes == 0)
    return 0;
  double seconds = std::max(work.operations / operationsPerSecond(work, device),
                            bytes / device.bytesPerSecond);
  return 1e9 * (seconds + device.secondsPerLaunch);
}

static std::optional<double> measuredTime(Operation *op,
                                          const DeviceModel &device) {
  return device.measured ? device.measured->lookup(costKeyOf(op))
                         : std::nullopt;
}

double gpuopt::timeInNanoseconds(Operation *op, const DeviceModel &device) {
  double estimate = timeInNanoseconds(workOf(op), device);
  if (estimate == 0) // no work at all
    return 0;
  return measuredTime(op, device).value_or(estimate);
}

double gpuopt::timeOfSliceInNanoseconds(nn::FusedOp op, unsigned result,
                                        const KernelSlice &slice,
                                        const DeviceModel &device) {
  double estimate = timeInNanoseconds(workOfSlice(op, result, slice), device);
  if (!device.measured)
    return estimate;
  if (auto measured =
          device.measured->lookup(costKeyOfSlice(op, result, slice)))
    return *measured;
  double estimateOfAll = timeInNanoseconds(workOf(op), device);
  std::optional<double> all = measuredTime(op, device);
  return all && estimateOfAll > 0 ? estimate / estimateOfAll * *all : estimate;
}

bool gpuopt::isMeasured(Operation *op, const DeviceModel &device) {
  return measuredTime(op, device).has_value();
}
