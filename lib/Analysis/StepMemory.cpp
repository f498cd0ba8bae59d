//===- StepMemory.cpp - Where the tensors of a step lie -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/StepMemory.h"

#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Planning/PackArena.h"
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

LogicalResult StepMemory::checkContents() {
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

LogicalResult StepMemory::pack() {
  if (failed(checkContents()))
    return failure();
  planning::ArenaProblem problem;
  for (const PlannedBuffer &buffer : buffers)
    problem.buffers.push_back({buffer.from, buffer.to,
                               device::sizeInBytes(buffer.type),
                               kBufferAlignment});
  planning::Result<planning::Packing> packing = planning::packArena(problem);
  if (!packing)
    return step.emitOpError("cannot be packed into an arena: ")
           << packing.error().message;
  if (planning::MaybeError error = planning::verify(problem, packing->solution))
    return step.emitOpError("has an arena that fails its check: ")
           << error->message;
  for (auto [buffer, offset] : llvm::zip(buffers, packing->solution.offsets))
    buffer.offset = offset;
  height = packing->solution.height;
  return success();
}
