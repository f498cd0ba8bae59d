//===- ConvertToDevice.cpp - Lowers a program to the device dialect -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Each op becomes a launch or a library call on addresses. Nothing is decided
// here that an earlier pass could have: what is one kernel, in which order,
// what is copied, where it lies.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Conversion/ToDevice/Passes.h"

#include "KernelBuilder.h"
#include "NameBuffers.h"
#include "StepLowering.h"
#include "gpuopt/Analysis/Kernels/LaunchShape.h"
#include "gpuopt/Analysis/Memory/PlacedInputs.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace gpuopt {
#define GEN_PASS_DEF_CONVERTTODEVICE
#include "gpuopt/Conversion/ToDevice/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

static void emitPersistent(const PersistentMemory &persistent,
                           OpBuilder &builder) {
  for (const PersistentMemory::Entry &entry : persistent.getEntries()) {
    auto op = device::BufferOp::create(builder, builder.getUnknownLoc(),
                                       entry.symbol, entry.kind, entry.offset,
                                       entry.type, entry.origin);
    if (entry.variable)
      op.setVariableAttr(entry.variable);
    if (entry.value)
      op.setValueAttr(entry.value);
    if (!entry.externalName.empty())
      op.setExternalName(entry.externalName);
    if (entry.indices)
      op.setIndicesAttr(entry.indices);
  }
}

namespace {

class ConvertToDevice
    : public gpuopt::impl::ConvertToDeviceBase<ConvertToDevice> {
public:
  using ConvertToDeviceBase::ConvertToDeviceBase;

private:
  void runOnOperation() override {
    FailureOr<DeviceModel> model = loadDeviceModel(getOperation(), device);
    if (failed(model))
      return signalPassFailure();
    for (auto memory : getOperation().getOps<device::MemoryOp>()) {
      memory.emitOpError("is there already: convert-to-device runs once");
      return signalPassFailure();
    }
    SmallVector<train::StepOp> steps(getOperation().getOps<train::StepOp>());
    for (train::StepOp step : steps)
      if (failed(checkReady(step.getBody().front(), *model)))
        return signalPassFailure();
    std::vector<StepMemory> memories;
    llvm::StringMap<unsigned> names;
    PersistentMemory persistent(getOperation(), names);
    for (train::StepOp step : steps) {
      persistent.addStep(step);
      memories.emplace_back(step, names);
      if (failed(memories.back().readOffsets()))
        return signalPassFailure();
    }
    emitMemory(persistent, steps, memories);
    KernelTable kernels(getOperation(), *model);
    for (auto [step, memory] : llvm::zip(steps, memories))
      lowerStep(step, memory, persistent, kernels, debugOverflow,
                [&] { return uniqueSymbol("place_inputs", names); });
    nameBuffers(getOperation());
    kernelCount += kernels.size();
    for (train::StepOp step : steps)
      step.erase();
  }

  /// Checks what earlier passes must have left.
  static LogicalResult checkReady(Block &block, const DeviceModel &device) {
    for (Operation &op : block) {
      if (!canLower(&op) && !isa<nn::YieldOp>(op)) {
        InFlightDiagnostic error =
            op.emitOpError("cannot be converted to the device dialect");
        if (StringRef pass = passThatReplaces(&op); !pass.empty())
          error << "; run the passes of gpuopt-to-memory before, of which "
                << pass << " replaces it";
        return error;
      }
      if (isViewOp(&op) && !viewOf(op.getResult(0)))
        return op.emitOpError(
            "has a result that is no view of its operand's memory; run "
            "kernels-materialize-views before");
      if (auto kernel = dyn_cast<nn::FusedOp>(op))
        if (failed(checkPartialSums(kernel, device)))
          return failure();
      if (auto scan = dyn_cast<nn::ScanOp>(op))
        if (failed(checkReady(scan.getIteration(), device)))
          return failure();
    }
    return success();
  }

  /// A warp keeps the sums of a row's columns in its registers.
  static LogicalResult checkPartialSums(nn::FusedOp kernel,
                                        const DeviceModel &device) {
    for (auto sum : kernel.getBody().front().getOps<nn::PartialSumOp>()) {
      if (!device.hasWarps())
        return kernel.emitOpError(
                   "has an 'nn.partial_sum', which kernels for '")
               << device.name
               << "' cannot have; run kernels-merge-column-sums for this "
                  "device";
      int64_t columns =
          cast<RankedTensorType>(sum.getInput().getType()).getShape().back();
      if (columns > kWarpRowElements)
        return kernel.emitOpError("expects an 'nn.partial_sum' of rows of up "
                                  "to ")
               << kWarpRowElements << " elements, but got " << columns;
    }
    return success();
  }

  void emitMemory(const PersistentMemory &persistent,
                  ArrayRef<train::StepOp> steps,
                  ArrayRef<StepMemory> memories) {
    OpBuilder builder = OpBuilder::atBlockEnd(getOperation().getBody());
    int64_t height = 0, hostHeight = 0;
    for (const StepMemory &memory : memories) {
      height = std::max(height, memory.getHeight());
      hostHeight = std::max(hostHeight, memory.getHostHeight());
    }
    device::MemoryOp::create(builder, getOperation().getLoc(),
                             persistent.getSizeInBytes(),
                             llvm::alignTo(height, kBufferAlignment),
                             llvm::alignTo(hostHeight, kBufferAlignment));
    emitPersistent(persistent, builder);
    for (train::StepOp step : steps)
      markPlacedInputs(persistent, step);
    for (auto [constStep, memory] : llvm::zip(steps, memories)) {
      train::StepOp step = constStep;
      for (const PlannedBuffer &buffer : memory.getBuffers())
        emitBuffer(step, buffer, device::BufferKind::Arena,
                   persistent.getSizeInBytes(), builder);
      for (const PlannedBuffer &buffer : memory.getHostBuffers())
        emitBuffer(step, buffer, device::BufferKind::Host, 0, builder);
    }
  }

  void markPlacedInputs(const PersistentMemory &persistent,
                        train::StepOp step) {
    for (PlacedInput placed : findPlacedInputs(step)) {
      auto name =
          cast<StringAttr>(step.getInputNames()[placed.input.getArgNumber()]);
      getOperation()
          .lookupSymbol<device::BufferOp>(persistent.symbolOfInput(name))
          .setPlacedIn(persistent.symbolOfOutput(placed.output.getName()));
    }
  }

  static void emitBuffer(train::StepOp step, const PlannedBuffer &buffer,
                         device::BufferKind kind, int64_t start,
                         OpBuilder &builder) {
    auto op = device::BufferOp::create(builder, step.getLoc(), buffer.name,
                                       kind, start + buffer.offset, buffer.type,
                                       buffer.origin);
    op.setLiveFrom(buffer.from);
    op.setLiveTo(buffer.to);
    if (buffer.result >= 0)
      op.setResultNumber(buffer.result);
    op.setStepAttr(FlatSymbolRefAttr::get(step.getSymNameAttr()));
  }
};

} // namespace
