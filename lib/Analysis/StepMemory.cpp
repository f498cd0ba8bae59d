//===- StepMemory.cpp - Where the tensors of a step lie -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/StepMemory.h"

#include "gpuopt/Analysis/Origins.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"

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

static bool ownsMemory(Operation *op) {
  return !isViewOp(op) && !isa<train::ReadOp, arith::ConstantOp>(op);
}

RankedTensorType gpuopt::gradNormScratchType(train::GradNormOp norm) {
  int64_t spans = 0;
  for (Value gradient : norm.getGradients())
    spans += device::sumOfSquaresPartials(
        cast<RankedTensorType>(gradient.getType()).getNumElements());
  return RankedTensorType::get({spans}, Float64Type::get(norm.getContext()));
}

StepMemory::StepMemory(train::StepOp step, llvm::StringMap<unsigned> &usedNames)
    : step(step) {
  int64_t index = 0;
  for (Operation &op : step.getBody().front()) {
    if (!ownsMemory(&op))
      continue;
    for (Value result : op.getResults()) {
      Value root = destinationOf(result).root;
      if (!bufferOf.count(root))
        addBuffer(root, usedNames);
      PlannedBuffer &buffer = buffers[bufferOf[root]];
      buffer.from = buffer.to ? std::min(buffer.from, index) : index;
      buffer.to = std::max(buffer.to, index + 1);
    }
    if (auto norm = dyn_cast<train::GradNormOp>(op)) {
      scratchOf[&op] = buffers.size();
      RankedTensorType type = gradNormScratchType(norm);
      buffers.push_back({uniqueSymbol("grad_norm_partials", usedNames),
                         "partial sums of the gradient norm", type, index,
                         index + 1, 0});
    }
    extendLifetimes(&op, index);
    ++index;
  }
}

void StepMemory::addBuffer(Value root, llvm::StringMap<unsigned> &usedNames) {
  bufferOf[root] = buffers.size();
  std::string origin = originOf(root);
  buffers.push_back({uniqueSymbol(origin, usedNames), origin,
                     cast<RankedTensorType>(root.getType()), 0, 0, 0});
}

void StepMemory::extendLifetimes(Operation *op, int64_t index) {
  for (Value operand : op->getOperands()) {
    auto found = bufferOf.find(memoryOwner(operand));
    if (found != bufferOf.end())
      buffers[found->second].to =
          std::max(buffers[found->second].to, index + 1);
  }
}

const PlannedBuffer *StepMemory::lookup(Value root) const {
  auto found = bufferOf.find(root);
  return found == bufferOf.end() ? nullptr : &buffers[found->second];
}

const PlannedBuffer *StepMemory::lookupScratch(Operation *op) const {
  auto found = scratchOf.find(op);
  return found == scratchOf.end() ? nullptr : &buffers[found->second];
}

//===----------------------------------------------------------------------===//
// Contents
//===----------------------------------------------------------------------===//

/// A value that lies in memory with a new content; the old one is gone.
static bool overwrites(OpResult result) {
  if (auto product = dyn_cast<nn::ContractOp>(result.getOwner()))
    return static_cast<bool>(product.getAccumulator());
  auto kernel = dyn_cast<nn::FusedOp>(result.getOwner());
  return kernel && kernel.getOverwritten(result.getResultNumber());
}

LogicalResult StepMemory::checkContents() const {
  llvm::DenseMap<Value, int> contents, contentOf;
  auto source = [](Value value) {
    while (isViewOp(value.getDefiningOp()))
      value = value.getDefiningOp()->getOperand(0);
    return value;
  };
  for (Operation &op : step.getBody().front()) {
    if (!ownsMemory(&op))
      continue;
    for (Value operand : op.getOperands())
      if (contentOf.lookup(source(operand)) !=
          contents.lookup(memoryOwner(operand)))
        return op.emitOpError("reads '")
               << originOf(operand) << "', which has been overwritten";
    for (OpResult result : op.getResults()) {
      int &content = contents[memoryOwner(result)];
      content += overwrites(result);
      contentOf[result] = content;
    }
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// With what is lost up to the next offset, after the topmost buffer too: or
/// the packer would search for an arena that is lower by less than that, which
/// there mostly is not.
static int64_t paddedSize(const PlannedBuffer &buffer) {
  return llvm::alignTo(device::sizeInBytes(buffer.type), kBufferAlignment);
}

planning::ArenaProblem StepMemory::problem() const {
  planning::ArenaProblem problem;
  for (const PlannedBuffer &buffer : buffers)
    problem.buffers.push_back(
        {buffer.from, buffer.to, paddedSize(buffer), kBufferAlignment});
  return problem;
}

void StepMemory::place(ArrayRef<int64_t> offsets) {
  height = 0;
  for (auto [buffer, offset] : llvm::zip_equal(buffers, offsets)) {
    buffer.offset = offset;
    height = std::max(height, offset + paddedSize(buffer));
  }
}

LogicalResult StepMemory::checkPacking() const {
  planning::ArenaSolution solution;
  for (const PlannedBuffer &buffer : buffers)
    solution.offsets.push_back(buffer.offset);
  solution.height = height;
  if (planning::MaybeError error = planning::verify(problem(), solution))
    return step.emitOpError("has an arena that fails its check: ")
           << error->message;
  return success();
}

LogicalResult StepMemory::pack(std::optional<int64_t> capacityInBytes,
                               int64_t effort) {
  if (failed(checkContents()))
    return failure();
  planning::PackOptions options;
  options.capacityInBytes = capacityInBytes;
  options.effort = effort;
  planning::Result<planning::Packing> packing =
      planning::packArena(problem(), options);
  if (!packing)
    return step.emitOpError("cannot be packed into an arena: ")
           << packing.error().message;
  lowerLimit = packing->lowerLimitInBytes;
  place(packing->solution.offsets);
  return checkPacking();
}

//===----------------------------------------------------------------------===//
// Offsets on the ops
//===----------------------------------------------------------------------===//

/// Of a result that lies in another's memory.
static constexpr int64_t kNoOffset = -1;

void StepMemory::writeOffsets() const {
  for (Operation &op : step.getBody().front()) {
    SmallVector<int64_t> offsets;
    for (Value result : op.getResults()) {
      const PlannedBuffer *buffer = lookup(result);
      offsets.push_back(buffer ? buffer->offset : kNoOffset);
    }
    if (const PlannedBuffer *scratch = lookupScratch(&op))
      offsets.push_back(scratch->offset);
    if (llvm::any_of(offsets, [](int64_t offset) { return offset >= 0; }))
      op.setAttr(train::kOffsetsAttribute,
                 DenseI64ArrayAttr::get(op.getContext(), offsets));
    else
      op.removeAttr(train::kOffsetsAttribute);
  }
}

LogicalResult StepMemory::readOffsets() {
  if (failed(checkContents()))
    return failure();
  std::vector<int64_t> found(buffers.size());
  auto read = [&](Operation *owner, unsigned number,
                  unsigned buffer) -> LogicalResult {
    auto offsets =
        owner->getAttrOfType<DenseI64ArrayAttr>(train::kOffsetsAttribute);
    if (!offsets || number >= offsets.size() || offsets[number] < 0)
      return owner->emitOpError("has no place in the arena; expects what "
                                "train-plan-memory leaves");
    found[buffer] = offsets[number];
    return success();
  };
  for (auto [root, buffer] : bufferOf) {
    auto result = cast<OpResult>(root);
    if (failed(read(result.getOwner(), result.getResultNumber(), buffer)))
      return failure();
  }
  for (auto [op, buffer] : scratchOf)
    if (failed(read(op, op->getNumResults(), buffer)))
      return failure();
  place(found);
  return checkPacking();
}
