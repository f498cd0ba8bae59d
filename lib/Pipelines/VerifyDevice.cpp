//===- VerifyDevice.cpp - What holds after the phase device ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Pipelines/Passes.h"

#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Dialect/Device/IR/Accesses.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

namespace gpuopt {
#define GEN_PASS_DEF_VERIFYDEVICE
#include "gpuopt/Pipelines/Passes.h.inc"
} // namespace gpuopt

using namespace mlir;
using namespace gpuopt;

using device::BufferKind;
using device::BufferOp;

/// Returns whether a buffer lies in memory of the host, which is an allocation
/// of its own.
static bool isOnHost(BufferOp buffer) {
  return buffer.getKind() == BufferKind::Host;
}

/// Returns whether two buffers hold something at the same time.
static bool liveTogether(BufferOp a, BufferOp b) {
  if (!a.getLiveFrom() || !b.getLiveFrom())
    return a.getLiveFrom() == b.getLiveFrom(); // both for ever
  return a.getStepAttr() == b.getStepAttr() &&
         *a.getLiveFrom() < *b.getLiveTo() && *b.getLiveFrom() < *a.getLiveTo();
}

static int64_t endOf(BufferOp buffer) {
  return (int64_t)buffer.getOffset() + buffer.getSizeInBytes();
}

/// Checks (I2) for one buffer by itself.
static LogicalResult verifyPlace(BufferOp buffer, device::MemoryOp memory) {
  int64_t from = 0, to = memory.getPersistentBytes();
  if (buffer.getKind() == BufferKind::Arena) {
    from = to;
    to += memory.getArenaBytes();
  } else if (isOnHost(buffer)) {
    to = memory.getHostBytes();
  }
  int64_t offset = buffer.getOffset();
  if (offset < from || endOf(buffer) > to)
    return buffer.emitOpError("expects to lie in bytes [")
           << from << ", " << to << ") of the allocation, but lies in ["
           << offset << ", " << endOf(buffer) << ")";
  if (offset % kBufferAlignment != 0)
    return buffer.emitOpError("expects an offset that is a multiple of ")
           << kBufferAlignment << ", but got " << offset;
  return success();
}

/// Checks (I2) for when a buffer holds something: always, or in some calls of a
/// step.
static LogicalResult verifyLife(BufferOp buffer) {
  bool isOfStep = buffer.getKind() == BufferKind::Arena || isOnHost(buffer);
  if (!isOfStep && !buffer.getLiveFrom())
    return success();
  if (!buffer.getLiveFrom() || !buffer.getStep())
    return buffer.emitOpError("expects the calls of a step in which it lives, "
                              "as 'live 0 to 1 in @step'");
  if ((int64_t)*buffer.getLiveFrom() < (int64_t)*buffer.getLiveTo())
    return success();
  return buffer.emitOpError("expects to live from one call to a later one, but "
                            "lives ")
         << (int64_t)*buffer.getLiveFrom() << " to "
         << (int64_t)*buffer.getLiveTo();
}

/// Checks (I2) for each buffer with all others; they come in the order of their
/// offsets. One without bytes may lie anywhere.
static LogicalResult verifyApart(SmallVector<BufferOp> buffers) {
  llvm::erase_if(buffers, [](BufferOp buffer) {
    return endOf(buffer) == (int64_t)buffer.getOffset();
  });
  llvm::sort(buffers, [](BufferOp a, BufferOp b) {
    return a.getOffset() < b.getOffset();
  });
  for (size_t i = 0; i < buffers.size(); ++i)
    for (size_t j = i + 1; j < buffers.size() &&
                           (int64_t)buffers[j].getOffset() < endOf(buffers[i]);
         ++j)
      if (isOnHost(buffers[i]) == isOnHost(buffers[j]) &&
          liveTogether(buffers[i], buffers[j])) {
        InFlightDiagnostic error = buffers[j].emitOpError("overlaps @")
                                   << buffers[i].getSymName();
        error.attachNote(buffers[i].getLoc()) << "which is here";
        return error;
      }
  return success();
}

namespace {

class VerifyDevice : public gpuopt::impl::VerifyDeviceBase<VerifyDevice> {
  void runOnOperation() override {
    if (failed(verifyMemory()))
      return signalPassFailure();
    bool isValid = true;
    for (Operation &op : getOperation().getBody()->getOperations())
      isValid &= succeeded(verifyTopLevel(&op));
    SymbolTable symbols(getOperation());
    getOperation().walk([&](Operation *op) {
      if (auto address = dyn_cast<device::AddressOp>(op))
        isValid &= succeeded(verifyAddress(op, address.getBufferAttr(),
                                           address.getElements(), symbols)) &&
                   succeeded(verifyElement(address, symbols));
      else if (auto buffer = dyn_cast<BufferOp>(op))
        isValid &= succeeded(verifyVariable(buffer, symbols));
      else if (auto column = dyn_cast<device::ColumnOp>(op))
        isValid &= succeeded(verifyColumn(column, symbols));
      else if (auto launch = dyn_cast<device::LaunchOp>(op))
        isValid &= succeeded(verifyLaunch(launch, symbols));
      else if (auto copy = dyn_cast<device::CopyOp>(op))
        isValid &= succeeded(verifyCopy(copy, symbols));
      else if (auto step = dyn_cast<device::StepOp>(op))
        isValid &= succeeded(verifyAwaits(step));
    });
    if (!isValid)
      signalPassFailure();
  }

  static LogicalResult verifyTopLevel(Operation *op) { // (I1)
    return isa<train::VariableOp>(op) ||
                   isa_and_nonnull<device::DeviceDialect>(op->getDialect())
               ? success()
               : op->emitOpError(
                     "is no op of a program: expects only variables "
                     "and ops of the device dialect");
  }

  LogicalResult verifyMemory() {
    auto memories = llvm::to_vector(getOperation().getOps<device::MemoryOp>());
    if (memories.size() != 1)
      return getOperation().emitError("expects one 'device.memory', but got ")
             << memories.size();
    SmallVector<BufferOp> buffers(getOperation().getOps<BufferOp>());
    for (BufferOp buffer : buffers)
      if (failed(verifyPlace(buffer, memories[0])) ||
          failed(verifyLife(buffer)))
        return failure();
    return verifyApart(buffers);
  }

  static LogicalResult verifyAddress(Operation *op, FlatSymbolRefAttr name,
                                     int64_t element,
                                     SymbolTable &symbols) { // (I3)
    auto buffer = symbols.lookup<BufferOp>(name.getAttr());
    if (!buffer)
      return op->emitOpError("expects a buffer named ") << name;
    int64_t count = buffer.getElementsInMemory();
    if (element >= 0 && element < std::max<int64_t>(count, 1))
      return success();
    return op->emitOpError("expects an element of the ")
           << count << " of @" << buffer.getSymName() << ", but got "
           << element;
  }

  static LogicalResult verifyElement(device::AddressOp address,
                                     SymbolTable &symbols) { // (I3)
    auto buffer = symbols.lookup<BufferOp>(address.getBuffer());
    Type held = cast<RankedTensorType>(buffer.getType()).getElementType(),
         element = cast<device::PtrType>(address.getType()).getElement();
    if (held == element)
      return success();
    InFlightDiagnostic error =
        address.emitOpError("expects a pointer to the elements of @")
        << buffer.getSymName() << ", " << held << ", but points to " << element;
    error.attachNote(buffer.getLoc()) << "the buffer is here";
    return error;
  }

  static LogicalResult verifyVariable(BufferOp buffer,
                                      SymbolTable &symbols) { // (I2)
    FlatSymbolRefAttr name = buffer.getVariableAttr();
    if (!name)
      return success();
    auto variable = symbols.lookup<train::VariableOp>(name.getAttr());
    if (!variable)
      return buffer.emitOpError("expects a variable named ") << name;
    if (variable.getType() == buffer.getType())
      return success();
    InFlightDiagnostic error =
        buffer.emitOpError("expects the type of its variable, ")
        << variable.getType() << ", but got " << buffer.getType();
    error.attachNote(variable.getLoc()) << "the variable is here";
    return error;
  }

  static LogicalResult verifyAwaits(device::StepOp step) { // (I5)
    llvm::SmallDenseSet<int64_t> begun;
    WalkResult result = step.walk([&](Operation *op) {
      if (auto offload = dyn_cast<device::OffloadOp>(op))
        begun.insert(offload.getEvent());
      else if (auto reload = dyn_cast<device::ReloadOp>(op))
        begun.insert(reload.getEvent());
      auto await = dyn_cast<device::AwaitOp>(op);
      if (!await || begun.contains(await.getEvent()))
        return WalkResult::advance();
      await.emitOpError("expects a 'device.offload' or a 'device.reload' with "
                        "event ")
          << int64_t(await.getEvent()) << " before it in @"
          << step.getSymName();
      return WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  /// Checks that a copy that no loop makes ends within both buffers.
  static LogicalResult verifyCopy(device::CopyOp copy,
                                  SymbolTable &symbols) { // (I3)
    for (Value pointer : {copy.getSource(), copy.getTarget()}) {
      auto address = pointer.getDefiningOp<device::AddressOp>();
      auto buffer =
          address ? symbols.lookup<BufferOp>(address.getBuffer()) : BufferOp();
      if (!buffer)
        continue; // of a loop, or told already
      int64_t count = copy.getCount(), most = buffer.getElementsInMemory() -
                                              (int64_t)address.getElements();
      if (count < 0 || count > most)
        return copy.emitOpError("expects to copy 0 to ")
               << most << " elements, which @" << buffer.getSymName()
               << " has there, but got " << count;
    }
    return success();
  }

  /// Returns whether an iteration skips all calls that use a column, so that
  /// what its row has for them means nothing.
  static bool isSkipped(device::ColumnOp column, unsigned iteration) {
    return !column->use_empty() &&
           llvm::none_of(column->getUsers(), [&](Operation *call) {
             return device::isMade(call, iteration);
           });
  }

  static LogicalResult verifyColumn(device::ColumnOp column,
                                    SymbolTable &symbols) { // (I3)
    auto repeat = column->getParentOfType<device::RepeatOp>();
    for (unsigned iteration = 0; iteration < repeat.getNumIterations();
         ++iteration) {
      if (isSkipped(column, iteration))
        continue;
      device::SliceAttr slice = repeat.sliceOf(column.getName(), iteration);
      if (failed(verifyAddress(column, slice.getBuffer(),
                               slice.getElements() + column.getElements(),
                               symbols)))
        return failure();
    }
    return success();
  }

  static FlatSymbolRefAttr bufferOf(Value pointer, unsigned iteration) {
    if (auto address = pointer.getDefiningOp<device::AddressOp>())
      return address.getBufferAttr();
    auto column = pointer.getDefiningOp<device::ColumnOp>();
    return column->getParentOfType<device::RepeatOp>()
        .sliceOf(column.getName(), iteration)
        .getBuffer();
  }

  /// Checks that pointers which are not aliased are apart, as compilers are
  /// told.
  static LogicalResult verifyAliased(device::LaunchOp launch,
                                     device::KernelOp kernel) { // (I4)
    auto repeat = launch->getParentOfType<device::RepeatOp>();
    unsigned iterations = repeat ? repeat.getNumIterations() : 1;
    OperandRange pointers = launch.getOperands();
    for (size_t i = 0; i < pointers.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        bool areKnown = llvm::is_contained(kernel.getAliased(), i) &&
                        llvm::is_contained(kernel.getAliased(), j);
        if (areKnown || (!isWritten(kernel, i) && !isWritten(kernel, j)))
          continue;
        for (unsigned iteration = 0; iteration < iterations; ++iteration)
          if (device::isMade(launch, iteration) &&
              bufferOf(pointers[i], iteration) ==
                  bufferOf(pointers[j], iteration))
            return launch.emitOpError("expects arguments ")
                   << j << " and " << i << " of @" << kernel.getSymName()
                   << " to be aliased, because both are in "
                   << bufferOf(pointers[i], iteration);
      }
    return success();
  }

  static LogicalResult verifyLaunch(device::LaunchOp launch,
                                    SymbolTable &symbols) { // (I4)
    auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
    if (!kernel)
      return launch.emitOpError("expects a kernel named ")
             << launch.getKernelAttr();
    size_t pointers =
        llvm::count_if(kernel.getBody().getArgumentTypes(),
                       [](Type type) { return isa<device::PtrType>(type); });
    if (pointers != launch.getOperands().size())
      return launch.emitOpError("expects ")
             << pointers << " pointers for @" << kernel.getSymName()
             << ", but got " << launch.getOperands().size();
    SmallVector<Type> passed(launch.getOperandTypes()), taken;
    for (Type type : kernel.getBody().getArgumentTypes())
      if (isa<device::PtrType>(type))
        taken.push_back(type);
    if (passed != taken)
      return launch.emitOpError("expects pointers of types (")
             << taken << ") for @" << kernel.getSymName() << ", but got ("
             << passed << ")";
    SmallVector<Type> expected, given;
    for (Type type : kernel.getBody().getArgumentTypes())
      if (!isa<device::PtrType, device::StepStateType>(type))
        expected.push_back(type);
    if (ArrayAttr numbers = launch.getNumbersAttr())
      for (auto number : numbers.getAsRange<TypedAttr>())
        given.push_back(number.getType());
    if (expected == given)
      return verifyAliased(launch, kernel);
    return launch.emitOpError("expects numbers of types (")
           << expected << ") for @" << kernel.getSymName() << ", but got ("
           << given << ")";
  }
};

} // namespace
