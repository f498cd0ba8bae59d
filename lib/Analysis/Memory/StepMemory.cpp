//===- StepMemory.cpp - Where the tensors of a step lie -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/StepMemory.h"

#include "gpuopt/Analysis/Memory/InPlaceResults.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "gpuopt/Support/RowPitch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string gpuopt::uniqueSymbol(StringRef origin,
                                 llvm::StringMap<unsigned> &used) {
  std::string symbol;
  for (char c : origin) {
    bool keep = llvm::isAlnum(c);
    if (keep)
      symbol += llvm::toLower(c);
    else if (!symbol.empty() && symbol.back() != '_')
      symbol += '_';
  }
  while (!symbol.empty() && symbol.back() == '_')
    symbol.pop_back();
  if (symbol.empty() || llvm::isDigit(symbol[0]))
    symbol = "t" + symbol;
  unsigned &count = used[symbol];
  std::string unique = symbol;
  while (count > 0) {
    unique = symbol + "_" + std::to_string(++count);
    if (!used.count(unique))
      break;
  }
  used[unique] = std::max(1u, used[unique]);
  used[symbol] = std::max(1u, used[symbol]);
  return unique;
}

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

RankedTensorType gpuopt::scratchTypeOf(Operation *op) {
  if (auto update = dyn_cast<train::UpdateOp>(op))
    return train::updateScratchType(update);
  auto norm = dyn_cast<train::GradNormOp>(op);
  if (!norm)
    return nullptr;
  int64_t spans = 0;
  for (Value gradient : norm.getGradients())
    spans += sum_of_squares_partials(
        cast<RankedTensorType>(gradient.getType()).getNumElements());
  return RankedTensorType::get({spans}, Float64Type::get(norm.getContext()));
}

/// Whether an op of a step writes its results wherever it is told to.
static bool choosesPlaces(Operation *op) {
  return isa_and_nonnull<nn::FusedOp, nn::ConcatOp, RuntimeCallOpInterface>(op);
}

/// Whether an op behind `output` writes to the memory of `owner`.
static bool isWrittenBehind(train::OutputOp output, Value owner) {
  for (Operation *op = output->getNextNode(); op; op = op->getNextNode())
    if (llvm::any_of(op->getResults(), [&](OpResult result) {
          return operandInPlace(result) && bufferOf(result) == owner;
        }))
      return true;
  return false;
}

llvm::DenseMap<Value, train::OutputOp>
gpuopt::outputsInPlace(train::StepOp step) {
  llvm::DenseMap<Value, train::OutputOp> outputOf;
  if (step.getKind() != train::StepKind::Forward)
    return outputOf;
  llvm::StringSet<> found;
  for (auto output : step.getBody().getOps<train::OutputOp>()) {
    std::optional<StridedView> view = viewOf(output.getValue());
    if (!view || !view->isDense() || view->offset != 0)
      continue;
    Value owner = view->buffer;
    auto type = cast<RankedTensorType>(output.getValue().getType());
    if (owner.getParentBlock() == &step.getBody().front() &&
        choosesPlaces(owner.getDefiningOp()) && ownsMemory(owner) &&
        sizeInBytes(cast<RankedTensorType>(owner.getType())) ==
            sizeInBytes(type) &&
        !outputOf.count(owner) && !isWrittenBehind(output, owner) &&
        found.insert(output.getName()).second)
      outputOf[owner] = output;
  }
  return outputOf;
}

StepMemory::StepMemory(train::StepOp step, llvm::StringMap<unsigned> &usedNames)
    : step(step), outputOf(outputsInPlace(step)) {
  int64_t index = 0;
  for (Operation &op : step.getBody().front()) {
    if (namesMemory(&op))
      continue;
    if (auto offload = dyn_cast<train::OffloadOp>(op))
      addHostBuffer(offload, index, usedNames);
    for (Value result : op.getResults()) {
      if (isa<train::HostType>(result.getType()))
        continue;
      Value owner = destinationOf(result).buffer;
      if (outputOf.count(owner))
        continue;
      if (!indexOf.count(owner))
        addBuffer(owner, usedNames);
      PlannedBuffer &buffer = buffers[indexOf[owner]];
      buffer.from = buffer.to ? std::min(buffer.from, index) : index;
      buffer.to = std::max(buffer.to, index + 1);
    }
    if (auto scan = dyn_cast<nn::ScanOp>(op))
      for (Value owner : iterationBuffersOf(scan)) {
        addBuffer(owner, usedNames);
        buffers.back().from = index;
        buffers.back().to = index + 1;
      }
    if (RankedTensorType type = scratchTypeOf(&op)) {
      scratchOf[&op] = buffers.size();
      auto update = dyn_cast<train::UpdateOp>(op);
      std::string origin = update ? "scratch of " + update.getParameter().str()
                                  : "partial sums of the gradient norm";
      buffers.push_back(
          {uniqueSymbol(update ? origin : "grad_norm_partials", usedNames),
           origin, type, index, index + 1, 0});
    }
    extendLifetimes(&op, index);
    ++index;
  }
}

void StepMemory::addBuffer(Value owner, llvm::StringMap<unsigned> &usedNames) {
  indexOf[owner] = buffers.size();
  TensorName name = tensorNameOf(owner);
  buffers.push_back({uniqueSymbol(name.origin, usedNames), name.origin,
                     cast<RankedTensorType>(owner.getType()), 0, 0, 0,
                     name.result});
}

void StepMemory::addHostBuffer(train::OffloadOp op, int64_t index,
                               llvm::StringMap<unsigned> &usedNames) {
  hostIndexOf[op.getCopy()] = hostBuffers.size();
  std::string origin = originOf(op.getValue());
  hostBuffers.push_back({uniqueSymbol(origin + "_on_host", usedNames), origin,
                         cast<RankedTensorType>(op.getValue().getType()), index,
                         index + 1, 0});
}

void StepMemory::extendLifetimes(Operation *op, int64_t index) {
  for (Value operand : op->getOperands()) {
    if (auto host = hostIndexOf.find(operand); host != hostIndexOf.end())
      hostBuffers[host->second].to = index + 1;
    auto found = indexOf.find(bufferOf(operand));
    if (found != indexOf.end())
      buffers[found->second].to =
          std::max(buffers[found->second].to, index + 1);
  }
}

const PlannedBuffer *StepMemory::lookup(Value owner) const {
  auto found = indexOf.find(owner);
  return found == indexOf.end() ? nullptr : &buffers[found->second];
}

const PlannedBuffer *StepMemory::lookupHost(Value copy) const {
  auto found = hostIndexOf.find(copy);
  return found == hostIndexOf.end() ? nullptr : &hostBuffers[found->second];
}

const PlannedBuffer *StepMemory::lookupScratch(Operation *op) const {
  auto found = scratchOf.find(op);
  return found == scratchOf.end() ? nullptr : &buffers[found->second];
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// Checks that a result in place of an operand lies as that does.
static LogicalResult checkRows(OpResult result) {
  Value operand = operandInPlace(result);
  if (!operand)
    return success();
  std::optional<StridedView> view = viewOf(operand);
  auto type = cast<RankedTensorType>(result.getType());
  if (view && view->hasStrides(stridesInMemory(type)))
    return success();
  return result.getOwner()->emitOpError("expects '")
         << originOf(result) << "', of type " << type
         << ", to lie as the operand that it is written over, of type "
         << operand.getType();
}

/// Describes memory that no op of the kernel's block makes. `namer` is the op
/// that names it, or null for an argument.
static StringRef kindOfMemory(Operation *namer, bool isInLoop) {
  if (!namer)
    return isInLoop ? "an argument of the iteration" : "an input of the step";
  return isa<train::ReadOp>(namer) ? "what a 'train.read' gives" : "a constant";
}

/// Checks that a kernel overwrites memory of the step's arena, and only what it
/// has read. In the iteration of a loop, that is memory of the iteration: the
/// others read its arguments as well.
static LogicalResult checkOverwritten(OpResult result) {
  auto kernel = dyn_cast<nn::FusedOp>(result.getOwner());
  Value operand = kernel ? operandInPlace(result) : Value();
  if (!operand)
    return success();
  Operation *maker = bufferOf(operand).getDefiningOp();
  bool isInLoop = isa<nn::ScanOp>(kernel->getParentOp());
  if (!maker || namesMemory(maker))
    return kernel.emitOpError("expects '")
           << originOf(result) << "' to be written over a tensor that an op of "
           << (isInLoop ? "the iteration" : "the step") << " makes, but got "
           << kindOfMemory(maker, isInLoop);
  if (!isReadBeforeWritten(kernel, result.getResultNumber()))
    return kernel.emitOpError("expects operand ")
           << (*kernel.getInPlace())[result.getResultNumber()]
           << " to be read before '" << originOf(result)
           << "' is written over it, but another result or a reduction reads "
              "it later";
  return success();
}

/// Checks the ops of a step, or of a loop's iteration, in their order.
static LogicalResult checkContentsOf(Block &block) {
  llvm::DenseMap<Value, int> contents, contentOf;
  for (Operation &op : block) {
    if (namesMemory(&op))
      continue;
    for (Value operand : op.getOperands())
      if (contentOf.lookup(sourceOf(operand)) !=
          contents.lookup(bufferOf(operand)))
        return op.emitOpError("reads '")
               << originOf(operand) << "', which has been overwritten";
    auto scan = dyn_cast<nn::ScanOp>(op);
    if (scan && failed(checkContentsOf(scan.getIteration())))
      return failure();
    for (OpResult result : op.getResults()) {
      if (failed(checkRows(result)) || failed(checkOverwritten(result)))
        return failure();
      int &content = contents[bufferOf(result)];
      content += operandInPlace(result) != Value(); // the old content is gone
      contentOf[result] = content;
    }
  }
  return success();
}

LogicalResult StepMemory::checkContents() const {
  return checkContentsOf(step.getBody().front());
}

/// Checks that nothing reads a value that is still being transferred, and that
/// every transfer is awaited. Otherwise its memory would be reused too early,
/// or still be in use at the end of the step.
LogicalResult StepMemory::checkTransfers() const {
  llvm::SetVector<Value> pending;
  for (Operation &op : step.getBody().front()) {
    if (namesMemory(&op))
      continue;
    if (auto await = dyn_cast<train::AwaitReloadOp>(op)) {
      pending.remove(await.getValue());
      continue;
    }
    if (auto await = dyn_cast<train::AwaitOffloadOp>(op)) {
      pending.remove(await.getCopy());
      continue;
    }
    for (Value operand : op.getOperands())
      if (pending.contains(bufferOf(operand)))
        return op.emitOpError("reads '")
               << originOf(operand) << "', whose transfer has not been awaited";
    if (auto offload = dyn_cast<train::OffloadOp>(op))
      pending.insert(offload.getCopy());
    if (auto reload = dyn_cast<train::ReloadOp>(op))
      pending.insert(reload.getResult());
  }
  if (!pending.empty())
    return pending.front().getDefiningOp()->emitOpError(
        "starts a transfer that nothing awaits");
  return success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// Returns the size up to the next possible offset, also for the topmost
/// buffer. Without the last bytes, the packer would search for an arena that is
/// lower by less than the alignment, which there mostly is not.
static int64_t paddedSize(const PlannedBuffer &buffer) {
  return alignedSizeInBytes(buffer.type);
}

static planning::ArenaProblem problemOf(ArrayRef<PlannedBuffer> buffers) {
  planning::ArenaProblem problem;
  for (const PlannedBuffer &buffer : buffers)
    problem.buffers.push_back(
        {buffer.from, buffer.to, paddedSize(buffer), kBufferAlignment});
  return problem;
}

/// Packs the buffers; returns the height.
static int64_t place(MutableArrayRef<PlannedBuffer> buffers,
                     ArrayRef<int64_t> offsets) {
  int64_t height = 0;
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets)) {
    buffer.offset = offset;
    height = std::max(height, offset + paddedSize(buffer));
  }
  return height;
}

static planning::MaybeError checkPlaces(ArrayRef<PlannedBuffer> buffers,
                                        int64_t height) {
  planning::ArenaSolution solution;
  for (const PlannedBuffer &buffer : buffers)
    solution.offsets.push_back(buffer.offset);
  solution.height = height;
  return planning::verify(problemOf(buffers), solution);
}

LogicalResult StepMemory::checkPacking() const {
  planning::MaybeError error = checkPlaces(buffers, height);
  if (!error)
    error = checkPlaces(hostBuffers, hostHeight);
  if (error)
    return step.emitOpError("has an arena that fails its check: ")
           << error->message;
  return success();
}

LogicalResult StepMemory::pack(std::optional<int64_t> capacityInBytes,
                               int64_t effort) {
  if (failed(checkContents()) || failed(checkTransfers()))
    return failure();
  planning::PackOptions options;
  options.effort = effort;
  auto pack = [&](std::vector<PlannedBuffer> &places,
                  int64_t &top) -> LogicalResult {
    planning::Result<planning::Packing> packing =
        planning::packArena(problemOf(places), options);
    if (!packing)
      return step.emitOpError("cannot be packed into an arena: ")
             << packing.error().message;
    top = place(places, packing->solution.offsets);
    lowerLimit = packing->lowerLimitInBytes; // in the end, of the arena
    return success();
  };
  if (failed(pack(hostBuffers, hostHeight)))
    return failure();
  options.capacityInBytes = capacityInBytes;
  options.aimsAtCapacity = false;
  if (failed(pack(buffers, height)))
    return failure();
  return checkPacking();
}

//===----------------------------------------------------------------------===//
// Offsets on the ops
//===----------------------------------------------------------------------===//

/// Stands for the offset of a result that lies in another one's memory.
static constexpr int64_t kNoOffset = -1;

void StepMemory::writeOffsets() const {
  for (Operation &op : step.getBody().front()) {
    SmallVector<int64_t> offsets;
    for (Value result : op.getResults()) {
      const PlannedBuffer *buffer = isa<train::HostType>(result.getType())
                                        ? lookupHost(result)
                                        : lookup(result);
      offsets.push_back(buffer ? buffer->offset : kNoOffset);
    }
    if (auto scan = dyn_cast<nn::ScanOp>(op))
      for (Value owner : iterationBuffersOf(scan))
        offsets.push_back(lookup(owner)->offset);
    if (const PlannedBuffer *scratch = lookupScratch(&op))
      offsets.push_back(scratch->offset);
    if (llvm::any_of(offsets, [](int64_t offset) { return offset >= 0; }))
      op.setAttr(train::kOffsetsAttribute,
                 DenseI64ArrayAttr::get(op.getContext(), offsets));
    else
      op.removeAttr(train::kOffsetsAttribute);
  }
}

/// Returns the op of the step that notes the offset of a buffer, and the number
/// of the offset. Those of a loop's iteration come behind those of its results.
static std::pair<Operation *, unsigned> placeOfOffset(OpResult owner) {
  auto scan = dyn_cast<nn::ScanOp>(owner.getOwner()->getParentOp());
  if (!scan)
    return {owner.getOwner(), owner.getResultNumber()};
  SmallVector<Value> owners = iterationBuffersOf(scan);
  return {scan, scan.getNumResults() +
                    (llvm::find(owners, Value(owner)) - owners.begin())};
}

LogicalResult StepMemory::readOffsets() {
  if (failed(checkContents()) || failed(checkTransfers()))
    return failure();
  std::vector<int64_t> found(buffers.size()), foundOnHost(hostBuffers.size());
  auto read = [&](Operation *owner, unsigned number, int64_t sizeInBytes,
                  int64_t &place) -> LogicalResult {
    auto offsets =
        owner->getAttrOfType<DenseI64ArrayAttr>(train::kOffsetsAttribute);
    if (!offsets || number >= offsets.size() || offsets[number] < 0)
      return owner->emitOpError(
          "has no offset in the arena; run train-plan-memory before");
    place = offsets[number];
    if (place > INT64_MAX - sizeInBytes - kBufferAlignment)
      return owner->emitOpError(
                 "ends beyond what 63 bits can count, at offset ")
             << place;
    return success();
  };
  for (auto [owner, buffer] : indexOf) {
    auto [op, number] = placeOfOffset(cast<OpResult>(owner));
    if (failed(
            read(op, number, sizeInBytes(buffers[buffer].type), found[buffer])))
      return failure();
  }
  for (auto [copy, buffer] : hostIndexOf)
    if (failed(read(copy.getDefiningOp(), 0,
                    sizeInBytes(hostBuffers[buffer].type),
                    foundOnHost[buffer])))
      return failure();
  for (auto [op, buffer] : scratchOf)
    if (failed(read(op, op->getNumResults(), sizeInBytes(buffers[buffer].type),
                    found[buffer])))
      return failure();
  height = place(buffers, found);
  hostHeight = place(hostBuffers, foundOnHost);
  return checkPacking();
}
