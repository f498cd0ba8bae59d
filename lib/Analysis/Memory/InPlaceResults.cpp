//===- InPlaceResults.cpp - Results that take an operand's place ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/InPlaceResults.h"

#include "gpuopt/Analysis/Kernels/KernelSlice.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Support/TensorSize.h"

using namespace mlir;
using namespace gpuopt;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// A result is small if another one has this many times its bytes.
static constexpr int64_t kSmall = 16;

/// Whether another result of the same kernel may be computed again from
/// `value`.
static bool servesItsKernel(Value value) {
  auto kernel = value.getDefiningOp<nn::FusedOp>();
  if (!kernel)
    return false;
  unsigned number = cast<OpResult>(value).getResultNumber();
  return llvm::any_of(kernel.getResults(), [&](OpResult other) {
    std::optional<KernelSlice> slice =
        sliceFor(kernel, other.getResultNumber());
    return slice && llvm::is_contained(slice->results, number);
  });
}

/// Whether the kernel's operand is a whole buffer of the arena that lies in the
/// order and with the rows of a tensor of type `like`, and the kernel is the
/// only reader of the buffer.
static bool ownsItsMemory(OpOperand &operand, RankedTensorType like) {
  Value value = operand.get();
  std::optional<StridedView> view = viewOf(value);
  if (!view || !view->hasStrides(stridesInMemory(like)) || view->offset != 0)
    return false;
  if (!isReadOnce(value))
    return false;
  value = sourceOf(value);
  Operation *maker = value.getDefiningOp();
  if (servesItsKernel(value) ||
      !isa_and_nonnull<nn::FusedOp, RuntimeCallOpInterface>(maker) ||
      (!isa<nn::FusedOp>(maker) && operandInPlace(cast<OpResult>(value))))
    return false;
  StridedView whole = destinationOf(value);
  auto type = cast<RankedTensorType>(value.getType());
  return whole.hasStrides(stridesInMemory(type)) &&
         whole.buffer == bufferOf(value) &&
         !whole.buffer.getDefiningOp<nn::ConcatOp>() &&
         view->buffer == whole.buffer &&
         elementsInMemory(type) == elementsInMemory(like);
}

namespace {

/// In which walk a kernel that reduces rows reads and writes each value.
class Walks {
public:
  explicit Walks(Block &body) {
    for (Operation &op : body) {
      unsigned walk = 0;
      for (Value operand : op.getOperands())
        walk = std::max(walk, of(operand));
      earliest[&op] = walk + isa<nn::ReduceOp>(op);
    }
  }

  /// Returns the first walk in which `value` can be computed.
  unsigned of(Value value) const {
    return value.getDefiningOp() ? earliest.lookup(value.getDefiningOp()) : 0;
  }

  /// Whether computing an element of `value` may read an element of `argument`.
  /// The results of reductions are not computed again, so the search ends at
  /// them.
  bool reads(Value value, Value argument) {
    if (value == argument)
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || isa<nn::ReduceOp>(op))
      return false;
    auto [entry, isNew] = readers.try_emplace({value, argument}, false);
    if (!isNew)
      return entry->second;
    bool result = llvm::any_of(op->getOperands(), [&](Value operand) {
      return reads(operand, argument);
    });
    readers[{value, argument}] = result;
    return result;
  }

private:
  llvm::DenseMap<Operation *, unsigned> earliest;
  llvm::DenseMap<std::pair<Value, Value>, bool> readers;
};

class PlaceFinder {
public:
  explicit PlaceFinder(nn::FusedOp op)
      : op(op), body(op.getBody().front()),
        yielded(cast<nn::YieldOp>(body.getTerminator()).getValues()),
        walks(body) {
    for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>())
      reductions.push_back(reduce);
  }

  SmallVector<int64_t> run() {
    SmallVector<int64_t> places(op.getNumResults(), -1);
    llvm::SmallDenseSet<int64_t> taken;
    for (unsigned result = 0; result < op.getNumResults(); ++result)
      for (OpOperand &operand : op->getOpOperands()) {
        unsigned number = operand.getOperandNumber();
        if (taken.contains(number) || !canTake(result, operand))
          continue;
        places[result] = number;
        taken.insert(number);
        break;
      }
    return places;
  }

  /// Whether nothing reads the argument's element after that of the result is
  /// written.
  bool isWrittenLast(unsigned result, BlockArgument argument) {
    unsigned walk = walks.of(yielded[result]);
    for (nn::ReduceOp reduce : reductions)
      if (walksOverRows() && walks.of(reduce.getResult()) > walk &&
          walks.reads(reduce.getInput(), argument))
        return false;
    for (auto [other, value] : llvm::enumerate(yielded)) {
      // A walk adds to its sums before it writes.
      bool isFirst = other < result || value.getDefiningOp<nn::PartialSumOp>();
      bool isBefore =
          walks.of(value) < walk || (walks.of(value) == walk && isFirst);
      if (other != result && !isBefore && walks.reads(value, argument))
        return false;
    }
    return true;
  }

private:
  /// Whether the kernel walks over each row several times, once for each
  /// reduction that waits for another one. All others visit an element once.
  bool walksOverRows() {
    if (reductions.empty())
      return false;
    ArrayRef<int64_t> space = shapeOf(reductions[0].getInput());
    for (int64_t dim = space.size(); dim-- > 0;)
      if (space[dim] != 1)
        return llvm::is_contained(reductions[0].getDims(), dim);
    return false;
  }

  /// Whether a result has an element for every point of the iteration space.
  bool isFull(unsigned result) {
    ArrayRef<int64_t> shape = shapeOf(op.getResult(result));
    if (!reductions.empty())
      return shape == shapeOf(reductions[0].getInput());
    return llvm::all_of(op.getResults(), [&](Value other) {
      return shapeOf(other).size() <= shape.size() &&
             cast<RankedTensorType>(other.getType()).getNumElements() <=
                 ShapedType::getNumElements(shape);
    });
  }

  bool canTake(unsigned result, OpOperand &operand) {
    Value value = op.getResult(result);
    BlockArgument argument = body.getArgument(operand.getOperandNumber());
    if (!isSameButForPads(operand.get().getType(), value.getType()) ||
        !isFull(result) || destinationOf(value).buffer != value ||
        !ownsItsMemory(operand, cast<RankedTensorType>(value.getType())))
      return false;
    for (Operation *user : argument.getUsers())
      if (isa<nn::TakeOp>(user))
        return false;
    return isWrittenLast(result, argument) && canRunAgain(result, argument);
  }

  /// Whether a result that overwrites its operand can be computed again: the
  /// operand has to be computed again first. The other results must not need
  /// the operand, or be so small that it does not matter if they are never
  /// computed again (StepGraph.h).
  bool canRunAgain(unsigned result, BlockArgument argument) {
    int64_t bytes = sizeInBytes(op.getResult(result));
    return llvm::all_of(op.getResults(), [&](OpResult other) {
      std::optional<KernelSlice> slice = sliceFor(op, other.getResultNumber());
      bool readsIt =
          !slice || llvm::is_contained(slice->inputs, argument.getArgNumber());
      if (other.getResultNumber() == result)
        return readsIt;
      return !readsIt || (!slice && sizeInBytes(other) * kSmall <= bytes);
    });
  }

  nn::FusedOp op;
  Block &body;
  ValueRange yielded;
  Walks walks;
  SmallVector<nn::ReduceOp> reductions;
};

} // namespace

SmallVector<int64_t> gpuopt::chooseInPlace(nn::FusedOp op) {
  return PlaceFinder(op).run();
}

bool gpuopt::isReadBeforeWritten(nn::FusedOp op, unsigned result) {
  std::optional<ArrayRef<int64_t>> places = op.getInPlace();
  if (!places || (*places)[result] < 0)
    return true;
  BlockArgument argument = op.getBody().getArgument((*places)[result]);
  return PlaceFinder(op).isWrittenLast(result, argument);
}
