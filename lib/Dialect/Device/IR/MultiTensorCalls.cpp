//===- MultiTensorCalls.cpp - Calls that can be made as one ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt::device;

#include "gpuopt/Dialect/Device/IR/DeviceInterfaces.cpp.inc"

static Type elementOf(Value pointer) {
  return pointer ? cast<PtrType>(pointer.getType()).getElement() : Type();
}

/// Returns a key that consists of types.
static Attribute keyOf(Builder builder, ArrayRef<Type> types) {
  return builder.getTypeArrayAttr(types);
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

Type UpdateOp::getHalfType() {
  Type parameter = elementOf(getParameter()),
       gradient = elementOf(getGradient());
  return gradient != parameter ? gradient : elementOf(getCopy());
}

/// Returns whether states have the types that a table of updates gives them.
static bool haveDeclaredTypes(UpdateOp op,
                              const gpuopt::OptimizerInfo &optimizer) {
  if (!op.getStateNames())
    return true;
  return llvm::all_of(
      llvm::zip(op.getStateNames()->getAsRange<StringAttr>(), op.getStates()),
      [&](auto entry) {
        auto [name, state] = entry;
        const gpuopt::OptimizerState *declared =
            optimizer.find_state(name.strref());
        return declared->type == gpuopt::StateType::I8
                   ? elementOf(state).isInteger(8)
                   : elementOf(state) == elementOf(op.getParameter());
      });
}

/// An update with a direction has no key, because the products that make the
/// direction stand between it and the update before.
Attribute UpdateOp::getMultiTensorKey() {
  const OptimizerInfo *optimizer = find_optimizer(getOptimizer());
  Type parameter = elementOf(getParameter()), copy = elementOf(getCopy()),
       gradient = elementOf(getGradient());
  bool areHalvesEqual = !copy || (copy != parameter &&
                                  (gradient == parameter || gradient == copy));
  if (!optimizer || optimizer->has_direction || !areHalvesEqual ||
      !haveDeclaredTypes(*this, *optimizer))
    return {};
  Builder builder(getContext());
  return builder.getArrayAttr({getOptimizerAttr(), TypeAttr::get(parameter)});
}

Value UpdateOp::getSource() { return getGradient(); }

int64_t UpdateOp::getNumElements() {
  return ShapedType::getNumElements(getShape());
}

/// Returns what the table of an update's group has of a row's decay: those that
/// belong to a parameter group have its number as well.
static StringRef groupCells(UpdateOp op) {
  bool hasGroups =
      llvm::any_of(op->getBlock()->getOps<UpdateOp>(), [&](UpdateOp update) {
        return update.getOptimizer() == op.getOptimizer() && update.getGroup();
      });
  return hasGroups ? "decay or {decay, parameter group}" : "decay";
}

/// Whether the runtime works on a table of updates in one launch.
static bool isOneLaunch(UpdateOp op) { return !op.takesWholeShape(); }

MultiTensorTable UpdateOp::getTable(Type half) {
  SmallVector<StringRef> states;
  for (const OptimizerState &state : find_optimizer(getOptimizer())->states)
    if (!state.name.empty())
      states.push_back(state.name);
  Type parameter = elementOf(getParameter());
  bool isOneLaunch = ::isOneLaunch(*this);
  MultiTensorTable table;
  table.function = getOptimizer().str();
  table.name = table.function + "_updates";
  table.row = isOneLaunch ? "UpdateRow" : "ShapedUpdateRow";
  table.elementTypes = {parameter, half ? half : parameter};
  table.count = states.size();
  table.comment =
      "What " + table.function + " updates: parameter, {" +
      llvm::join(states, ", ") + "}, gradient, copy in half precision, " +
      (isOneLaunch ? "elements, first span, " + groupCells(*this).str()
                   : "{matrices, rows, columns}, " + groupCells(*this).str() +
                         ", scratch memory") +
      "; each tensor by its offset in bytes.";
  table.isOneLaunch = isOneLaunch;
  return table;
}

MultiTensorRow UpdateOp::getRow(int64_t firstSpan) {
  using Tensor = MultiTensorRow::Tensor;
  bool isHalf = elementOf(getGradient()) != elementOf(getParameter());
  MultiTensorRow row{getParameter(),
                     {Tensor{getParameter()}, getDeclaredStates(),
                      Tensor{getGradient(), isHalf}, Tensor{getCopy()},
                      getSizeText()}};
  if (isOneLaunch(*this))
    row.cells.push_back(std::to_string(firstSpan));
  row.cells.push_back(getGroupText());
  if (getScratch())
    row.cells.push_back(Tensor{getScratch()});
  return row;
}

//===----------------------------------------------------------------------===//
// Sums and copies
//===----------------------------------------------------------------------===//

Attribute AccumulateOp::getMultiTensorKey() {
  return keyOf(Builder(getContext()), elementOf(getTarget()));
}
Value AccumulateOp::getSource() { return getValue(); }
Type AccumulateOp::getHalfType() {
  Type value = elementOf(getValue());
  return value != elementOf(getTarget()) ? value : Type();
}

/// Returns a key of the types of two tensors.
template <typename OpT>
static Attribute keyOf(OpT op, Value to, Value from) {
  return keyOf(Builder(op.getContext()), {elementOf(to), elementOf(from)});
}
Attribute SnapshotOp::getMultiTensorKey() {
  return keyOf(*this, getSnapshot(), getValue());
}
Value SnapshotOp::getSource() { return getValue(); }
Attribute RestoreOp::getMultiTensorKey() {
  return keyOf(*this, getValue(), getSnapshot());
}
Value RestoreOp::getSource() { return getSnapshot(); }
Attribute RefreshOp::getMultiTensorKey() {
  return keyOf(*this, getCopy(), getValue());
}
Value RefreshOp::getSource() { return getValue(); }

int64_t SumPartsOp::getNumElements() { return getColumns(); }
Attribute SumPartsOp::getMultiTensorKey() {
  return keyOf(*this, getSum(), getParts());
}
Value SumPartsOp::getSource() { return getParts(); }

MultiTensorTable SumPartsOp::getTable(Type) {
  MultiTensorTable table;
  table.function = "sum_parts";
  table.name = "sums_of_parts";
  table.row = "SumPartsRow";
  table.comment = "What sum_parts works on: sum, parts, their number, columns, "
                  "first block; each tensor by its offset in bytes.";
  table.takesState = false;
  return table;
}
MultiTensorRow SumPartsOp::getRow(int64_t firstSpan) {
  using Tensor = MultiTensorRow::Tensor;
  return {getSum(),
          {Tensor{getSum()}, Tensor{getParts()}, std::to_string(getCount()),
           std::to_string(getColumns()), std::to_string(firstSpan)}};
}
int64_t SumPartsOp::getNumSpans() { return sum_parts_blocks(getNumElements()); }

/// Returns the table of calls that copy or add tensors. What is read has the
/// type of what is written, or `half`, where some of it is in half precision.
static MultiTensorTable tableOfCopies(StringRef function, StringRef name,
                                      Value to, Value from, Type half) {
  Type value = half ? elementOf(to) : elementOf(from);
  MultiTensorTable table;
  table.function = function.str();
  table.name = name.str();
  table.row = "CopyRow";
  table.elementTypes = {elementOf(to), value, half ? half : value};
  table.comment = "What " + table.function +
                  " works on: to, from, elements, first span; each tensor by "
                  "its offset in bytes.";
  return table;
}
static MultiTensorRow copyRow(MultiTensorCall op, Value to, Value from,
                              int64_t firstSpan) {
  using Tensor = MultiTensorRow::Tensor;
  return {from,
          {Tensor{to}, Tensor{from, op.getHalfType() != nullptr},
           std::to_string(op.getNumElements()), std::to_string(firstSpan)}};
}

MultiTensorTable AccumulateOp::getTable(Type half) {
  return tableOfCopies("accumulate", "sums", getTarget(), getValue(), half);
}
MultiTensorRow AccumulateOp::getRow(int64_t firstSpan) {
  return copyRow(*this, getTarget(), getValue(), firstSpan);
}

MultiTensorTable SnapshotOp::getTable(Type half) {
  return tableOfCopies("snapshot", "snapshots", getSnapshot(), getValue(),
                       half);
}
MultiTensorRow SnapshotOp::getRow(int64_t firstSpan) {
  return copyRow(*this, getSnapshot(), getValue(), firstSpan);
}

MultiTensorTable RestoreOp::getTable(Type half) {
  return tableOfCopies("restore", "restored", getValue(), getSnapshot(), half);
}
MultiTensorRow RestoreOp::getRow(int64_t firstSpan) {
  return copyRow(*this, getValue(), getSnapshot(), firstSpan);
}

MultiTensorTable RefreshOp::getTable(Type half) {
  bool isHalf = elementOf(getCopy()) != elementOf(getValue());
  MultiTensorTable table =
      tableOfCopies("refresh", isHalf ? "half_copies" : "written_state",
                    getCopy(), getValue(), half);
  table.takesState = false;
  return table;
}
MultiTensorRow RefreshOp::getRow(int64_t firstSpan) {
  return copyRow(*this, getCopy(), getValue(), firstSpan);
}

//===----------------------------------------------------------------------===//
// Multi-tensor calls
//===----------------------------------------------------------------------===//

SmallVector<MultiTensorCall> MultiTensorOp::getCalls() {
  return llvm::to_vector(getBody().getOps<MultiTensorCall>());
}

Type MultiTensorOp::getHalfType() {
  for (MultiTensorCall call : getCalls())
    if (Type half = call.getHalfType())
      return half;
  return {};
}

LogicalResult MultiTensorOp::verify() {
  for (Operation &op : getBody().front())
    if (!isa<AddressOp, MultiTensorCall>(op)) // (C1)
      return op.emitOpError(
          "expects to be outside of 'device.multi_tensor', which "
          "has only calls on tensors and addresses");
  SmallVector<MultiTensorCall> calls = getCalls();
  if (calls.size() < 2) // (C1)
    return emitOpError("expects two calls or more, but got ") << calls.size();
  MultiTensorCall first = calls.front();
  for (MultiTensorCall call : calls) {
    if (call->getName() != first->getName() || !call.getMultiTensorKey() ||
        call.getMultiTensorKey() != first.getMultiTensorKey()) // (C2)
      return call->emitOpError("expects to be of the kind of the first "
                               "call, with the same types");
    if (Type half = call.getHalfType(); half && half != getHalfType()) // (C3)
      return call->emitOpError("expects the others' half type ")
             << getHalfType() << ", but got " << half;
  }
  return success();
}
