//===- RowWalks.cpp - The walks of a kernel over its row ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/RowWalks.h"

#include "gpuopt/Analysis/Kernels/ShiftedExp.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace gpuopt;

/// The kept values of a block take at most this many bytes together. So much
/// fits the fastest cache of a core, and leaves a multiprocessor enough shared
/// memory for all the blocks that it can hold.
constexpr int64_t kRoomInBytes = 16 * 1024;
/// The kept values of a thread take at most this many bytes of its registers,
/// which are 64 registers.
constexpr int64_t kRegistersInBytes = 256;

/// A value is kept if computing it again costs more than this many additions.
/// That is a little more than storing and loading a value costs, because
/// recomputing takes no memory.
constexpr unsigned kDear = 8;
/// The limit where a kept value stays in a register, which costs less.
constexpr unsigned kDearInRegisters = 2;

/// Returns what one op costs by itself, in additions.
static unsigned weightOf(Operation *op) {
  if (isa<nn::RandomUniformOp>(op))
    return 16;
  if (isa<math::AbsFOp, math::CopySignOp, math::IsInfOp, math::IsNaNOp>(op))
    return 1;
  if (isa<arith::DivFOp, math::SqrtOp, math::RsqrtOp, math::CeilOp,
          math::FloorOp, math::RoundEvenOp, math::TruncOp, nn::TakeOp>(op))
    return 4;
  return isa_and_nonnull<math::MathDialect>(op->getDialect()) ? 16 : 1;
}

/// Returns the maximum of x if `reduce` is the sum of exp(x - maximum).
static nn::ReduceOp maximumUnder(nn::ReduceOp reduce) {
  arith::SubFOp shifted = shiftUnderSum(reduce);
  return shifted ? maximumAsShift(shifted.getRhs(), shifted, reduce.getDims())
                 : nn::ReduceOp();
}

RowWalks::RowWalks(Block &body, const KernelShape &shape,
                   const LaunchShape &launch)
    : shape(shape), storage(launch.rowStorage),
      yielded(cast<nn::YieldOp>(body.getTerminator()).getValues()) {
  findPlainWalks(body);
  pairExponentials(body);
  findPicks(body);
  findEarliest(body);
  assignWork(body);
  // With reduced loops between the row and its lanes, each of their iterations
  // would need a kept row of its own.
  bool isOneLoop =
      llvm::none_of(ArrayRef(shape.loops).drop_back(),
                    [](const LoopDim &loop) { return loop.isReduced; });
  if (isOneLoop && storage != RowStorage::Nowhere)
    room = storage == RowStorage::Registers
               ? kRegistersInBytes * (launch.threads / launch.groups)
               : kRoomInBytes;
  chooseKept();
}

unsigned RowWalks::earliest(Value value) const {
  return value.getDefiningOp() ? earliestOf.lookup(value.getDefiningOp()) : 0;
}

bool RowWalks::isFull(Value value) const {
  return variesAlongReduced(shape, value);
}

void RowWalks::pairExponentials(Block &body) {
  if (storage != RowStorage::Nowhere)
    return;
  for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>())
    if (nn::ReduceOp maximum = maximumUnder(reduce))
      maximumOf[reduce] = maximum;
}

/// Other threads may write the row in place as soon as a reduction has made
/// all threads of the block wait. So there must be one that waits for no other:
/// writtenIn puts whatever is computed from the elements behind it.
void RowWalks::findPicks(Block &body) {
  SmallVector<Pick> found;
  bool hasOther = false;
  for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>()) {
    if (std::optional<Pick> pick = pickOf(reduce))
      found.push_back(*pick);
    else
      hasOther |= plain(reduce.getResult()) == 1;
  }
  if (storage == RowStorage::Nowhere && hasOther)
    picked = std::move(found);
}

std::optional<RowWalks::Pick> RowWalks::pickOf(nn::ReduceOp sum) const {
  auto select = sum.getInput().getDefiningOp<arith::SelectOp>();
  auto isLabel = select ? select.getCondition().getDefiningOp<arith::CmpIOp>()
                        : arith::CmpIOp();
  if (sum.getKind() != nn::ReductionKind::Sum || !isLabel ||
      isLabel.getPredicate() != arith::CmpIPredicate::eq ||
      !matchPattern(select.getFalseValue(), m_AnyZeroFloat()))
    return std::nullopt;
  Value place = isLabel.getLhs(), label = skipBroadcasts(isLabel.getRhs()),
        row = select.getTrueValue();
  auto extend = row.getDefiningOp<arith::ExtFOp>();
  auto argument = dyn_cast<BlockArgument>(extend ? extend.getOperand() : row);
  auto position = shape.positions.find(place);
  auto isIndexOfRow = [&](const AffineAccess &access) {
    return access.offset == 0 && access.strides.back() == 1 &&
           llvm::all_of(ArrayRef(access.strides).drop_back(),
                        [](int64_t stride) { return stride == 0; });
  };
  bool isPick = place.getDefiningOp<nn::IotaOp>() &&
                position != shape.positions.end() &&
                isIndexOfRow(position->second) && argument &&
                shape.arguments.contains(argument) && isFull(argument) &&
                isa<BlockArgument>(label) && !isFull(label) &&
                getElementTypeOrSelf(label).isInteger(64);
  return isPick ? std::optional(Pick{sum, row, label}) : std::nullopt;
}

bool RowWalks::isPicked(Operation *op) const {
  return llvm::any_of(picked, [&](const Pick &pick) { return pick.sum == op; });
}

void RowWalks::findPlainWalks(Block &body) {
  for (Operation &op : body) {
    unsigned walk = 0;
    for (Value operand : op.getOperands())
      walk = std::max(walk, plain(operand));
    plainOf[&op] = walk + isa<nn::ReduceOp>(op);
  }
}

unsigned RowWalks::plain(Value value) const {
  return value.getDefiningOp() ? plainOf.lookup(value.getDefiningOp()) : 0;
}

unsigned RowWalks::writtenIn(Value value, Block &body) const {
  unsigned walk = earliest(value);
  for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>())
    if (plain(reduce.getResult()) <= plain(value))
      walk = std::max(walk, earliest(reduce.getResult()));
  return walk;
}

void RowWalks::findEarliest(Block &body) {
  for (Operation &op : body) {
    if (isPicked(&op)) {
      earliestOf[&op] = 0;
      continue;
    }
    if (nn::ReduceOp maximum = maximumOf.lookup(&op)) {
      earliestOf[&op] = earliest(maximum.getResult());
      continue;
    }
    unsigned walk = 0;
    for (Value operand : op.getOperands())
      walk = std::max(walk, earliest(operand));
    earliestOf[&op] = walk + isa<nn::ReduceOp>(op);
  }
}

void RowWalks::assignWork(Block &body) {
  auto at = [&](unsigned number) -> Walk & {
    if (walks.size() <= number)
      walks.resize(number + 1);
    return walks[number];
  };
  for (nn::ReduceOp reduce : body.getOps<nn::ReduceOp>())
    if (!isPicked(reduce))
      at(earliest(reduce.getResult()) - 1).reductions.push_back(reduce);
  for (nn::PartialSumOp sum : body.getOps<nn::PartialSumOp>())
    at(earliest(sum.getInput())).sums.push_back(sum);
  for (auto [position, value] : llvm::enumerate(yielded))
    if (isFull(value) && !value.getDefiningOp<nn::PartialSumOp>())
      at(writtenIn(value, body)).outputs.push_back(position);
  for (Walk &walk : walks)
    llvm::stable_sort(walk.outputs, [&](unsigned a, unsigned b) {
      return plain(yielded[a]) < plain(yielded[b]);
    });
}

//===----------------------------------------------------------------------===//
// What is kept
//===----------------------------------------------------------------------===//

void RowWalks::chooseKept() {
  for (auto [number, walk] : llvm::enumerate(walks)) {
    visited.clear();
    for (nn::ReduceOp reduce : walk.reductions)
      visit(combinedBy(reduce), number);
    for (nn::PartialSumOp sum : walk.sums)
      visit(sum.getInput(), number);
    for (unsigned output : walk.outputs)
      visit(yielded[output], number);
  }
}

/// Notes that `walk` needs `value`. If an earlier walk computes it, it can be
/// kept from there; if not, this walk computes it and its operands.
void RowWalks::visit(Value value, unsigned walk) {
  value = skipBroadcasts(value);
  const bool inRegisters = storage == RowStorage::Registers;
  bool isRead = !value.getDefiningOp();
  if ((isRead && !inRegisters) || !isFull(value) || keptSince.contains(value) ||
      !visited.insert(value).second)
    return;
  auto [entry, isNew] = computedIn.try_emplace(value, walk);
  if (!isNew && entry->second < walk) {
    Type type = cast<RankedTensorType>(value.getType()).getElementType();
    int64_t bytes = shape.loops.back().size *
                    std::max<int64_t>(4, type.getIntOrFloatBitWidth() / 8);
    if (isa<FloatType>(type) && bytes <= room && isWorthKeeping(value)) {
      keptSince[value] = entry->second;
      room -= bytes;
      return;
    }
  }
  // Which element of a table is read follows from an index.
  if (isRead || (inRegisters && isa<nn::TakeOp>(value.getDefiningOp())))
    return;
  for (Value operand : value.getDefiningOp()->getOperands())
    visit(operand, walk);
}

bool RowWalks::isWorthKeeping(Value value) const {
  if (storage != RowStorage::Registers)
    return costOf(value) > kDear;
  return !value.getDefiningOp() || isa<nn::TakeOp>(value.getDefiningOp()) ||
         costOf(value) > kDearInRegisters;
}

/// Returns what computing `value` costs, in additions, if the values kept so
/// far need not be computed.
unsigned RowWalks::costOf(Value value) const {
  unsigned cost = 0;
  SmallVector<Value> stack{value};
  llvm::DenseSet<Value> seen;
  while (!stack.empty()) {
    Value next = skipBroadcasts(stack.pop_back_val());
    if (!seen.insert(next).second || !isFull(next))
      continue;
    Operation *producer = next.getDefiningOp();
    bool isAtHand = !producer || keptSince.contains(next);
    cost += isAtHand ? 1 : weightOf(producer);
    if (!isAtHand && !isa<nn::TakeOp>(producer))
      stack.append(producer->operand_begin(), producer->operand_end());
  }
  return cost;
}
