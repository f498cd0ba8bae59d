//===- CostModel.cpp - Estimated time of ops ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/CostModel.h"

#include "gpuopt/Analysis/Buffers.h"
#include "gpuopt/Analysis/KernelCost.h"
#include "gpuopt/Analysis/MeasuredCosts.h"
#include "gpuopt/Analysis/ProductCost.h"
#include "gpuopt/Dialect/NN/IR/AttentionPairs.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
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

/// Whether an update is done by the launch of the update before it
/// (device-group-calls). Updates with scratch memory have their own launches.
static bool isInLaunchBefore(train::UpdateOp op) {
  auto before = dyn_cast_or_null<train::UpdateOp>(op->getPrevNode());
  const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer());
  return before && before.getOptimizer() == op.getOptimizer() && optimizer &&
         !optimizer->scratch;
}

/// Whether state is written by the launch that writes other state before it.
static bool isInLaunchBefore(train::WriteOp op) {
  Operation *before = op->getPrevNode();
  while (before && isViewOp(before))
    before = before->getPrevNode();
  auto other = dyn_cast_or_null<train::WriteOp>(before);
  auto elementOf = [](train::WriteOp write) {
    return cast<RankedTensorType>(write.getValue().getType()).getElementType();
  };
  return other && isa<FloatType>(elementOf(op)) &&
         elementOf(op) == elementOf(other);
}

/// The same for the last stage of a sum.
static bool isInLaunchBefore(nn::SumPartsOp op) {
  return isa_and_nonnull<nn::SumPartsOp>(op->getPrevNode());
}

//===----------------------------------------------------------------------===//
// What a device with warps has to do beside
//===----------------------------------------------------------------------===//

/// Instructions of a lane for a pair of a query and a key: its score is scaled,
/// compared, raised to a power, added and narrowed. The power is one
/// instruction that takes the place of eight (16 of them begin in a clock, of
/// 128 others).
static constexpr double kAttentionInstructions = 12;
/// The backward computes probabilities twice, and the gradients of scores.
static constexpr double kAttentionGradientInstructions = 26;
/// A soft cap is a tanh and two products (tanh of elementary_cuda.h).
static constexpr double kSoftcapInstructions = 18;
/// The backward computes scores and the gradients of probabilities in both of
/// its kernels: seven products, where five are counted.
static constexpr double kAttentionGradientProducts = 7. / 5;

static void addKernel(const KernelCost &cost, const DeviceModel &device,
                      OpWork &work) {
  work.laneInstructions = cost.laneInstructions;
  work.isInF64 = cost.isInF64;
  work.bytesRead += cost.extraBytesRead;
  work.bytesInFlight = bytesInFlight(cost.launch, device);
  work.loadsInFlight = double(cost.launch.loadsInFlight);
  work.leavesDeviceIdle = residentWarps(cost.launch, device) <
                          mostResidentWarps(cost.launch, device);
}

static void addProduct(Operation *op, const DeviceModel &device, OpWork &work) {
  work.laneInstructions = cast<CostOpInterface>(op).getEpilogueInstructions();
  std::optional<ProductCalls> calls = productCallsOf(op);
  if (!calls)
    return;
  bool isHalf = work.elementType.getIntOrFloatBitWidth() == 16;
  work.launches = double(calls->calls + (isHalf ? calls->endCalls : 0));
  work.tileShare = shareOfFullTiles(*calls, device);
  work.hasAlignedRows = calls->hasAlignedRows;
}

/// Its softmax stands between its products, and so adds to their time.
static void addAttention(const AttentionPairs &pairs, OpWork &work) {
  work.isOwnProduct = true;
  double softcap = pairs.isCapped ? kSoftcapInstructions : 0;
  work.laneInstructions =
      pairs.visible * (pairs.isGradient
                           ? kAttentionGradientInstructions + 2 * softcap
                           : kAttentionInstructions + softcap);
  if (pairs.isGradient)
    work.operations *= kAttentionGradientProducts;
}

/// cuDNN adds up channels in f16 alone. Elsewhere two kernels read the result.
static void addSums(nn::ConvWithSumsOp op, OpWork &work) {
  constexpr double kLaunches = 3;
  if (work.elementType.isF16())
    return;
  work.bytesRead += sizeInBytes(op.getResult());
  work.launches = kLaunches;
}

static void addDeviceWork(Operation *op, const DeviceModel &device,
                          OpWork &work) {
  if (auto fused = dyn_cast<nn::FusedOp>(op)) {
    addKernel(kernelCostOf(fused, device), device, work);
  } else if (productSpecOf(op)) {
    addProduct(op, device, work);
  } else if (auto conv = dyn_cast<nn::ConvWithSumsOp>(op)) {
    addSums(conv, work);
  } else if (auto pairs = attentionPairsOf(op)) {
    addAttention(*pairs, work);
  } else if (!work.onMatrixUnits) {
    work.laneInstructions = work.operations;
  }
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

OpWork gpuopt::workOf(Operation *op, const DeviceModel &device) {
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
    work.launches = isInLaunchBefore(update) ? 0 : 1;
  }
  if (auto write = dyn_cast<train::WriteOp>(op))
    work.launches = isInLaunchBefore(write) ? 0 : 1;
  if (auto sum = dyn_cast<nn::SumPartsOp>(op))
    work.launches = isInLaunchBefore(sum) ? 0 : 1;
  if (device.hasWarps())
    addDeviceWork(op, device, work);
  return work;
}

OpWork gpuopt::workOfSlice(nn::FusedOp op, unsigned result,
                           const KernelSlice &slice,
                           const DeviceModel &device) {
  OpWork work;
  work.elementType = elementTypeOf(op);
  for (Operation *inner : slice.ops)
    work.operations += floatingPointOperations(inner);
  for (unsigned input : slice.inputs)
    work.bytesRead += bytesRead(op, input);
  for (unsigned other : slice.results)
    work.bytesRead += sizeInBytes(op.getResult(other));
  work.bytesWritten = sizeInBytes(op.getResult(result));
  if (device.hasWarps())
    addKernel(kernelCostOfSlice(op, result, slice, device), device, work);
  return work;
}

OpWork gpuopt::withBytes(OpWork work, double bytesRead, double bytesWritten) {
  if (work.leavesDeviceIdle && work.bytesRead > 0)
    work.bytesInFlight *= bytesRead / work.bytesRead;
  work.bytesRead = bytesRead;
  work.bytesWritten = bytesWritten;
  return work;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

static double productsPerSecond(const OpWork &work, const DeviceModel &device) {
  if (work.elementType.isF64())
    return device.f64ProductsPerSecond;
  if (work.elementType.isF16())
    return device.f16ProductsPerSecond;
  if (work.elementType.isBF16())
    return device.bf16ProductsPerSecond;
  return device.f32ProductsPerSecond;
}

/// On a processor, which fetches ahead.
static double secondsOnCores(const OpWork &work, const DeviceModel &device) {
  double rate = work.onMatrixUnits ? productsPerSecond(work, device)
                                   : device.vectorOperationsPerSecond;
  return std::max(work.operations / rate,
                  (work.bytesRead + work.bytesWritten) / device.bytesPerSecond);
}

static double secondsOfMemory(const OpWork &work, const DeviceModel &device) {
  double seconds = (work.bytesRead + work.bytesWritten) / device.bytesPerSecond;
  if (work.bytesInFlight == 0)
    return seconds;
  // Little's law. Nobody waits for what is written, and the wait for what is
  // loaded first is part of a launch.
  double waits = work.bytesRead / work.bytesInFlight - 1;
  return std::max(seconds, waits * device.memoryLatencyInSeconds);
}

static double secondsOfLanes(const OpWork &work, const DeviceModel &device) {
  double share = work.isInF64 ? device.f64InstructionShare : 1;
  return work.laneInstructions / (device.laneInstructionsPerSecond() * share);
}

static double secondsOfProducts(const OpWork &work, const DeviceModel &device) {
  if (!work.onMatrixUnits)
    return 0;
  bool isHalf = work.elementType.getIntOrFloatBitWidth() == 16;
  double share = work.tileShare;
  if (isHalf && !work.hasAlignedRows)
    share *= kShareOfUnalignedRows;
  if (isHalf && work.isOwnProduct)
    share *= device.ownProductShare;
  return work.operations / (productsPerSecond(work, device) * share);
}

double gpuopt::timeInNanoseconds(const OpWork &work,
                                 const DeviceModel &device) {
  if (work.operations == 0 && work.bytesRead + work.bytesWritten == 0)
    return 0;
  double seconds = device.hasWarps()
                       ? std::max(secondsOfMemory(work, device),
                                  secondsOfProducts(work, device) +
                                      secondsOfLanes(work, device))
                       : secondsOnCores(work, device);
  return 1e9 * (seconds + work.launches * device.secondsPerLaunch);
}

static std::optional<double> measuredTime(Operation *op,
                                          const DeviceModel &device) {
  return device.measured ? device.measured->lookup(costKeyOf(op))
                         : std::nullopt;
}

double gpuopt::timeInNanoseconds(Operation *op, const DeviceModel &device) {
  double estimate = timeInNanoseconds(workOf(op, device), device);
  if (estimate == 0) // no work at all
    return 0;
  return measuredTime(op, device).value_or(estimate);
}

double gpuopt::timeOfSliceInNanoseconds(nn::FusedOp op, unsigned result,
                                        const KernelSlice &slice,
                                        const DeviceModel &device) {
  double estimate =
      timeInNanoseconds(workOfSlice(op, result, slice, device), device);
  if (!device.measured)
    return estimate;
  if (auto measured =
          device.measured->lookup(costKeyOfSlice(op, result, slice)))
    return *measured;
  double estimateOfAll = timeInNanoseconds(workOf(op, device), device);
  std::optional<double> all = measuredTime(op, device);
  return all && estimateOfAll > 0 ? estimate / estimateOfAll * *all : estimate;
}

bool gpuopt::isMeasured(Operation *op, const DeviceModel &device) {
  return measuredTime(op, device).has_value();
}
