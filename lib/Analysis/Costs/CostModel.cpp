//===- CostModel.cpp - Estimated time of ops ------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/CostModel.h"

#include "gpuopt/Analysis/Costs/AttentionCost.h"
#include "gpuopt/Analysis/Costs/KernelCost.h"
#include "gpuopt/Analysis/Costs/MeasuredCosts.h"
#include "gpuopt/Analysis/Costs/ProductCost.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "gpuopt/Dialect/NN/IR/ProductLayout.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
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

//===----------------------------------------------------------------------===//
// What a device with warps has to do beside
//===----------------------------------------------------------------------===//

/// Rows are scattered by kernels that wait for one another: zeros, three that
/// put positions into buckets, one that sums short buckets, and three for long
/// ones (ops/scatter_cuda.h).
static constexpr double kScatterLaunches = 8;

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
  cast<CostOpInterface>(op).addWarpWork(work);
  std::optional<ProductCalls> calls = productCallsOf(op);
  if (!calls)
    return;
  int64_t ends =
      wantsAlignedRows(work.elementType, device) ? calls->endCalls : 0;
  work.launches = double(calls->calls + ends);
  work.tileShare = shareOfFullTiles(*calls, device);
  work.hasAlignedRows = calls->hasAlignedRows;
}

/// Adds the work of an op on a device with warps. That of kernels and products
/// depends on how they are cut into blocks and tiles; other ops know their own.
static void addWarpWork(Operation *op, const DeviceModel &device,
                        OpWork &work) {
  if (auto fused = dyn_cast<nn::FusedOp>(op))
    addKernel(kernelCostOf(fused, device), device, work);
  else if (productSpecOf(op))
    addProduct(op, device, work);
  // Its sums are few beside the bytes of the rows and the launches.
  else if (isa<nn::ScatterAddOp>(op))
    work.launches = kScatterLaunches;
  else if (isAttention(op))
    addAttention(op, device, work);
  else if (auto costly = dyn_cast<CostOpInterface>(op))
    costly.addWarpWork(work);
  else
    work.laneInstructions = work.operations;
}

//===----------------------------------------------------------------------===//
// Work
//===----------------------------------------------------------------------===//

OpWork gpuopt::workOf(Operation *op, const DeviceModel &device) {
  OpWork work;
  // Transfers run at the same time as the step's other work (OffloadCost.h).
  if (!doesWork(op) || isa<train::OffloadOp, train::AwaitOffloadOp,
                           train::ReloadOp, train::AwaitReloadOp>(op))
    return work;
  work.operations = floatingPointOperations(op);
  auto costly = dyn_cast<CostOpInterface>(op);
  if (costly)
    work.onMatrixUnits = costly.usesMatrixUnits();
  work.elementType = elementTypeOf(op);
  for (OpOperand &operand : op->getOpOperands())
    work.bytesRead += bytesReadBy(operand);
  for (Value result : op->getResults())
    work.bytesWritten += sizeInBytes(result);
  if (costly)
    costly.addOwnWork(work);
  if (device.hasWarps())
    addWarpWork(op, device, work);
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
  if (!work.hasAlignedRows && wantsAlignedRows(work.elementType, device))
    share *= isHalf ? kShareOfUnalignedRows : kShareOfUnalignedTf32Rows;
  if (work.multipliesByWarps)
    share *= device.ownProductShare;
  return work.operations / (productsPerSecond(work, device) * share);
}

static double secondsOfWarps(const OpWork &work, const DeviceModel &device) {
  double ofMemory = secondsOfMemory(work, device),
         ofArithmetic =
             secondsOfProducts(work, device) + secondsOfLanes(work, device);
  return work.overlapsBytes ? std::max(ofMemory, ofArithmetic)
                            : ofMemory + ofArithmetic;
}

double gpuopt::timeInNanoseconds(const OpWork &work,
                                 const DeviceModel &device) {
  if (work.operations == 0 && work.bytesRead + work.bytesWritten == 0)
    return 0;
  double seconds = device.hasWarps() ? secondsOfWarps(work, device)
                                     : secondsOnCores(work, device);
  return 1e9 * (seconds + work.launches * device.secondsPerLaunch);
}

double gpuopt::limitInNanoseconds(const OpWork &work,
                                  const DeviceModel &device) {
  if (work.operations == 0 && work.bytesRead + work.bytesWritten == 0)
    return 0;
  if (!device.hasWarps())
    return 1e9 * secondsOnCores(work, device);
  double seconds = (work.bytesRead + work.bytesWritten) / device.bytesPerSecond;
  if (work.onMatrixUnits)
    seconds =
        std::max(seconds, work.operations / productsPerSecond(work, device));
  return 1e9 * std::max(seconds, secondsOfLanes(work, device));
}

static std::optional<double> measuredTime(Operation *op,
                                          const DeviceModel &device);

/// The time of a loop is that of its iterations, if all of their work is
/// measured.
static std::optional<double>
measuredTimeOfIterations(nn::ScanOp scan, const DeviceModel &device) {
  double ofIteration = 0;
  for (Operation &inner : scan.getIteration().without_terminator()) {
    std::optional<double> time =
        doesWork(&inner) ? measuredTime(&inner, device) : 0;
    if (!time)
      return std::nullopt;
    ofIteration += *time;
  }
  return ofIteration * double(scan.getCount());
}

static std::optional<double> measuredTime(Operation *op,
                                          const DeviceModel &device) {
  if (auto scan = dyn_cast<nn::ScanOp>(op); scan && device.measured)
    return measuredTimeOfIterations(scan, device);
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
