//===- IterationPlaces.cpp - Where an iteration reads and writes ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IterationPlaces.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

IterationPlaces::IterationPlaces(nn::ScanOp op,
                                 llvm::function_ref<StringRef(Value)> symbolOf)
    : op(op) {
  Block &iteration = op.getIteration();
  for (auto [index, slice] : llvm::enumerate(op.getSlices()))
    addEntry(iteration.getArgument(index), slice, 0, symbolOf);
  for (auto [index, history] : llvm::enumerate(op.getHistories())) {
    addEntry(iteration.getArgument(op.getSlices().size() + index), history,
             op.getEntryBefore(), symbolOf);
    addEntry(op.getYielded()[index], history, op.getEntryAfter(), symbolOf);
  }
  for (auto [index, result] : llvm::enumerate(op.getStacked()))
    addEntry(op.getYielded()[op.getStates().size() + index], result, 0,
             symbolOf);
}

/// `firstEntry` is the entry of iteration 0.
void IterationPlaces::addEntry(Value value, Value tensor, int64_t firstEntry,
                               llvm::function_ref<StringRef(Value)> symbolOf) {
  StridedView view = *viewOf(tensor);
  std::string buffer = symbolOf(view.buffer).str();
  int64_t size = elementsOf(value);
  std::string column = buffer;
  int64_t elements = view.offset + firstEntry * size;
  unsigned count = 1;
  auto isTaken = [&](const auto &entry) {
    return entry.second.column == column;
  };
  // A history has two columns: of the state before an iteration and after it.
  while (llvm::any_of(entries, isTaken))
    column = count++ == 1 ? buffer + "_next"
                          : buffer + "_next_" + std::to_string(count - 1);
  entries.insert({value, {column, buffer, elements, size}});
}

device::RepeatOp IterationPlaces::createLoop(ImplicitLocOpBuilder &b,
                                             StringRef name) const {
  SmallVector<StringRef> columns;
  for (const auto &[value, entry] : entries)
    columns.push_back(entry.column);
  SmallVector<Attribute> rows;
  int64_t count = op.getCount();
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    int64_t index = op.getReverse() ? count - 1 - iteration : iteration;
    SmallVector<Attribute> row;
    for (const auto &[value, entry] : entries)
      row.push_back(device::cellOf(device::SliceAttr::get(
          b.getContext(), FlatSymbolRefAttr::get(b.getContext(), entry.buffer),
          entry.elements + index * entry.stride)));
    rows.push_back(b.getArrayAttr(row));
  }
  return b.create<device::RepeatOp>(b.getStringAttr(name),
                                    b.getStrArrayAttr(columns),
                                    b.getArrayAttr(rows), StringAttr());
}

Value IterationPlaces::addressIn(ImplicitLocOpBuilder &b,
                                 const StridedView &view) const {
  const Entry &entry = entries.find(view.buffer)->second;
  Type element = cast<RankedTensorType>(view.buffer.getType()).getElementType();
  return b.create<device::ColumnOp>(device::PtrType::get(element), entry.column,
                                    view.offset);
}

StringRef IterationPlaces::bufferOfColumn(StringRef column) const {
  for (const auto &[value, entry] : entries)
    if (entry.column == column)
      return entry.buffer;
  return "";
}

bool IterationPlaces::isInvariant(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &op.getIteration() &&
         argument.getArgNumber() >=
             op.getSlices().size() + op.getStates().size();
}

StridedView IterationPlaces::viewOfInvariant(Value argument) const {
  return *viewOf(op->getOperand(cast<BlockArgument>(argument).getArgNumber()));
}

void IterationPlaces::noteAlignment(StridedView &view) const {
  if (isInvariant(view.buffer)) {
    view.offset += viewOfInvariant(view.buffer).offset;
  } else if (auto entry = entries.find(view.buffer); entry != entries.end()) {
    view.offset =
        std::gcd(view.offset + entry->second.elements, entry->second.stride);
  }
}
