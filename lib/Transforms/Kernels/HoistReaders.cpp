//===- HoistReaders.cpp - Runs work early where that frees a tensor -------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Moves the readers of large tensors up, so that these can be freed earlier.
// Runs when kernels and copies are formed. Only ops without effects move, and
// only up, so no op reads state later than before.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Transforms/Kernels/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace gpuopt::kernels {
#define GEN_PASS_DEF_HOISTREADERS
#include "gpuopt/Transforms/Kernels/Passes.h.inc"
} // namespace gpuopt::kernels

using namespace mlir;
using namespace gpuopt;

static double bytesOfResults(Operation *op) {
  double bytes = 0;
  for (OpResult result : op->getResults())
    if (!operandInPlace(result)) // otherwise it needs no new memory
      bytes += sizeInBytes(result);
  return bytes;
}

static Operation *producerOf(Value value) {
  return sourceOf(value).getDefiningOp();
}

/// Moves an op, with the views that it reads, to right after the last of its
/// operands.
static void moveUp(Operation *op) {
  Operation *last = nullptr;
  for (Value operand : op->getOperands())
    if (Operation *producer = producerOf(operand);
        producer && (!last || last->isBeforeInBlock(producer)))
      last = producer;
  op->moveAfter(last); // one of its operands is the tensor that it frees
  for (Value operand : op->getOperands())
    for (Operation *view = operand.getDefiningOp(), *reader = op;
         isViewOp(view);
         reader = view, view = view->getOperand(0).getDefiningOp())
      if (reader->isBeforeInBlock(view))
        view->moveBefore(reader);
}

namespace {

class HoistReaders : public kernels::impl::HoistReadersBase<HoistReaders> {
  void runOnOperation() override {
    getOperation()->walk([&](train::StepOp step) {
      Block &block = step.getBody().front();
      number(block);
      // Readers move to behind `op` while the loop runs.
      Operation *op = block.empty() ? nullptr : &block.front();
      for (; op; op = op->getNextNode())
        if (!isViewOp(op) && op->getNumResults() > 0 &&
            isMemoryEffectFree(op) && hoistReaders(op))
          number(block);
    });
  }

  /// Numbers the ops that compute something.
  void number(Block &block) {
    positions.clear();
    int64_t position = 0;
    for (Operation &op : block) {
      positions[&op] = position;
      position += !namesMemory(&op);
    }
  }

  /// Moves all readers of op's largest result up, if that pays.
  bool hoistReaders(Operation *op) {
    Value largest = op->getResult(0);
    for (Value result : op->getResults())
      if (sizeInBytes(result) > sizeInBytes(largest))
        largest = result;
    SmallVector<Operation *> readers = readersOf(largest);
    // Concatenations stay after their last part.
    if (readers.empty() || !llvm::all_of(readers, [](Operation *reader) {
          return isMemoryEffectFree(reader) && !isa<nn::ConcatOp>(reader);
        }))
      return false;
    llvm::sort(readers, [](Operation *a, Operation *b) {
      return a->isBeforeInBlock(b);
    });

    llvm::DenseMap<Operation *, int64_t> moved;
    auto place = [&](Operation *op) {
      auto found = moved.find(op);
      return found == moved.end() ? positions.lookup(op) : found->second;
    };
    int64_t end = 0, newEnd = 0;
    double longer = 0;
    for (Operation *reader : readers) {
      int64_t from = positions.lookup(reader), to = 0;
      for (Value operand : reader->getOperands())
        if (Operation *producer = producerOf(operand))
          to = std::max(to, place(producer) + 1);
      moved[reader] = to;
      end = std::max(end, from);
      newEnd = std::max(newEnd, to);
      longer +=
          bytesOfResults(reader) * double(std::max<int64_t>(0, from - to));
    }
    if (double(sizeInBytes(largest)) * double(end - newEnd) <= longer)
      return false;
    for (Operation *reader : readers)
      moveUp(reader);
    moveCount += readers.size();
    return true;
  }

  llvm::DenseMap<Operation *, int64_t> positions;
};

} // namespace
