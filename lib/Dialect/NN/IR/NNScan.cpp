//===- NNScan.cpp - Loops over tensors ------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/NN/IR/ScanBuilder.h"
#include "gpuopt/Support/TensorSize.h"
#include "gpuopt/Support/TensorType.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::nn;

/// Returns the type of `count` tensors of a type.
static RankedTensorType stackedType(RankedTensorType entry, int64_t count) {
  SmallVector<int64_t> shape(entry.getShape());
  shape.insert(shape.begin(), count);
  return RankedTensorType::get(shape, entry.getElementType());
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// Returns the types of the body's arguments, or nothing if one of the slices
/// has not as many entries as there are iterations.
static std::optional<SmallVector<Type>> argumentTypesOf(ScanOp op) {
  SmallVector<Type> types;
  for (Value slice : op.getSlices()) {
    RankedTensorType type = tensorType(slice);
    if (type.getRank() < 1 || type.getDimSize(0) != (int64_t)op.getCount())
      return std::nullopt;
    types.push_back(RankedTensorType::get(type.getShape().drop_front(),
                                          type.getElementType()));
  }
  llvm::append_range(types, op.getStates().getTypes());
  llvm::append_range(types, op.getInvariants().getTypes());
  return types;
}

static LogicalResult verifyResults(ScanOp op, YieldOp yield) {
  size_t states = op.getStates().size();
  TypeRange yielded = yield.getValues().getTypes();
  if (yielded.size() < states ||
      yielded.take_front(states) != op.getStates().getTypes() ||
      yielded.size() != op.getResults().size()) // (C3)
    return op.emitOpError("expects its body to yield values of the types of "
                          "its ")
           << states << " states and one for each of its other "
           << op.getResults().size() - std::min(states, op.getResults().size())
           << " results, but got " << yielded;
  for (auto [index, type] : llvm::enumerate(yielded)) {
    bool isState = index < states;
    RankedTensorType expected = stackedType(cast<RankedTensorType>(type),
                                            int64_t(op.getCount()) + isState);
    if (op.getResult(index).getType() != expected) // (C3), (C4)
      return op.emitOpError("expects result ")
             << index << ", "
             << (isState ? "the history of a state"
                         : "of an entry per iteration")
             << ", to be " << expected << ", but got "
             << op.getResult(index).getType();
  }
  return success();
}

bool nn::canIterate(Operation *op) {
  if (auto attention = dyn_cast<AttentionOp>(op))
    return !attention.getDropoutRatio();
  if (auto norm = dyn_cast<BatchNormOp>(op))
    return norm.getFrozen(); // Then it reads no statistics of a batch.
  return !isa<ScanOp, RandomUniformOp, EvaluationFormOpInterface>(op);
}

LogicalResult ScanOp::verify() {
  if (getCount() < 2) // (C1)
    return emitOpError("expects two iterations or more, but got ")
           << getCount();
  std::optional<SmallVector<Type>> arguments = argumentTypesOf(*this);
  if (!arguments) // (C1)
    return emitOpError("expects slices with ")
           << getCount() << " entries, but got " << getSlices().getTypes();
  Block &iteration = getIteration();
  auto yield = dyn_cast_or_null<YieldOp>(iteration.empty() ? nullptr
                                                           : &iteration.back());
  if (!yield || !llvm::equal(iteration.getArgumentTypes(), *arguments)) // (C2)
    return emitOpError("expects a body with the types of entries, states and "
                       "invariants as arguments, ")
           << TypeRange(*arguments) << ", but got "
           << iteration.getArgumentTypes();
  for (Operation &inner : iteration)
    if (!canIterate(&inner)) // (C5)
      return inner.emitOpError("must not be in an iteration of 'nn.scan'");
  return verifyResults(*this, yield);
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double ScanOp::getFloatingPointOperations() {
  double count = 0;
  for (Operation &inner : getIteration())
    count += floatingPointOperations(&inner);
  return count * double(getCount());
}

bool ScanOp::usesMatrixUnits() {
  return llvm::any_of(getIteration(), [](Operation &inner) {
    auto costly = dyn_cast<CostOpInterface>(inner);
    return costly && costly.usesMatrixUnits();
  });
}

/// Each iteration reads the invariants.
void ScanOp::addOwnWork(OpWork &work) {
  for (Value invariant : getInvariants())
    work.bytesRead += double(getCount() - 1) * sizeInBytes(invariant);
}

/// Each iteration has launches of its own.
void ScanOp::addWarpWork(OpWork &work) {
  work.launches = double(getCount()) *
                  double(llvm::count_if(getIteration(), [](Operation &inner) {
                    return isa<FusedOp, RuntimeCallOpInterface>(inner);
                  }));
  if (!work.onMatrixUnits)
    work.laneInstructions = work.operations;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value ScanBuilder::addArgument(Arguments &kind, Value outer, Type type) {
  Value argument = iteration.addArgument(type, outer.getLoc());
  kind.push_back({argument, outer});
  return argument;
}

Value ScanBuilder::addSlice(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  assert(type.getDimSize(0) == count && "one entry per iteration");
  return addArgument(slices, tensor,
                     RankedTensorType::get(type.getShape().drop_front(),
                                           type.getElementType()));
}

Value ScanBuilder::addState(Value initial) {
  return addArgument(states, initial, initial.getType());
}

Value ScanBuilder::addInvariant(Value value) {
  return addArgument(invariants, value, value.getType());
}

Value ScanBuilder::getOuter(Value argument) const {
  for (const Arguments *kind : {&slices, &states, &invariants})
    for (auto [known, outer] : *kind)
      if (known == argument)
        return outer;
  return {};
}

bool ScanBuilder::isInIteration(Value value) const {
  return value.getParentBlock() == &iteration;
}

void ScanBuilder::capture(OpBuilder &builder) {
  for (Operation &op : llvm::make_early_inc_range(iteration)) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      // What reads it may be moved as well; other readers get their own.
      op.moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      continue;
    }
    // A broadcast costs nothing within an iteration, and memory outside of it.
    bool isFixed = op.getNumOperands() > 0 && op.getNumRegions() == 0 &&
                   !isa<BroadcastOp>(op) && isMemoryEffectFree(&op) &&
                   llvm::none_of(op.getOperands(), [&](Value operand) {
                     return isInIteration(operand) && !isInvariant(operand);
                   });
    if (isFixed) {
      for (OpOperand &operand : op.getOpOperands())
        if (isInIteration(operand.get()))
          operand.set(getOuter(operand.get()));
      op.moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      continue;
    }
    for (OpOperand &operand : op.getOpOperands()) {
      if (isInIteration(operand.get()))
        continue;
      OpBuilder inside(&op);
      operand.set(captured(inside, operand.get()));
    }
  }
}

Value ScanBuilder::captured(OpBuilder &inside, Value value) {
  Operation *producer = value.getDefiningOp();
  if (producer && producer->hasTrait<OpTrait::ConstantLike>())
    return inside.clone(*producer)->getResult(0);
  for (auto [argument, outer] : invariants)
    if (outer == value)
      return argument;
  return addInvariant(value);
}

ScanOp ScanBuilder::finish(OpBuilder &builder, Location loc,
                           ArrayRef<Value> next, ArrayRef<Value> stacked) {
  assert(next.size() == states.size() && "one value for each state");
  SmallVector<Value> yielded(next);
  llvm::append_range(yielded, stacked);
  SmallVector<Type> types;
  for (auto [index, value] : llvm::enumerate(yielded))
    types.push_back(
        stackedType(tensorType(value), count + (index < next.size())));
  OpBuilder inside(context);
  inside.setInsertionPointToEnd(&iteration);
  for (Value &value : yielded)
    if (!isInIteration(value))
      value = captured(inside, value);
  YieldOp::create(inside, loc, yielded);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(iteration)))
    if (op.use_empty() && isMemoryEffectFree(&op) && !isa<YieldOp>(op))
      op.erase();
  auto isLeftOut = [&](const Arguments &kind, Value argument) {
    return &kind != &states && argument.use_empty();
  };
  auto outerOf = [&](const Arguments &kind) {
    SmallVector<Value> outers;
    for (auto [argument, outer] : kind)
      if (!isLeftOut(kind, argument))
        outers.push_back(outer);
    return outers;
  };
  auto scan =
      ScanOp::create(builder, loc, types, count, reverse, outerOf(slices),
                     outerOf(states), outerOf(invariants));
  Block &body = scan.getBody().emplaceBlock();
  for (const Arguments *kind : {&slices, &states, &invariants})
    for (auto [argument, outer] : *kind)
      if (!isLeftOut(*kind, argument))
        argument.replaceAllUsesWith(
            body.addArgument(argument.getType(), argument.getLoc()));
  body.getOperations().splice(body.end(), iteration.getOperations());
  return scan;
}
