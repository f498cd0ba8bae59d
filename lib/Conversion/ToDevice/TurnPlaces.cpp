//===- TurnPlaces.cpp - Where a turn of a loop reads and writes -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TurnPlaces.h"

#include "gpuopt/Analysis/Memory/Buffers.h"
#include <numeric>

using namespace mlir;
using namespace gpuopt;

static int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

TurnPlaces::TurnPlaces(nn::ScanOp op,
                       llvm::function_ref<StringRef(Value)> symbolOf)
    : op(op) {
  Block &turn = op.getTurn();
  for (auto [index, slice] : llvm::enumerate(op.getSlices()))
    addEntry(turn.getArgument(index), slice, 0, symbolOf);
  for (auto [index, history] : llvm::enumerate(op.getHistories())) {
    addEntry(turn.getArgument(op.getSlices().size() + index), history,
             op.getEntryBefore(), symbolOf);
    addEntry(op.getYielded()[index], history, op.getEntryAfter(), symbolOf);
  }
  for (auto [index, result] : llvm::enumerate(op.getStacked()))
    addEntry(op.getYielded()[op.getStates().size() + index], result, 0,
             symbolOf);
}

/// `firstEntry` is the entry of turn 0.
void TurnPlaces::addEntry(Value value, Value tensor, int64_t firstEntry,
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
  // A history has two columns: of the state before a turn and after it.
  while (llvm::any_of(entries, isTaken))
    column = count++ == 1 ? buffer + "_next"
                          : buffer + "_next_" + std::to_string(count - 1);
  entries.insert({value, {column, buffer, elements, size}});
}

device::RepeatOp TurnPlaces::createLoop(ImplicitLocOpBuilder &b,
                                        StringRef name) const {
  SmallVector<StringRef> columns;
  for (const auto &[value, entry] : entries)
    columns.push_back(entry.column);
  SmallVector<Attribute> rows;
  int64_t count = op.getCount();
  for (int64_t turn = 0; turn < count; ++turn) {
    int64_t index = op.getReverse() ? count - 1 - turn : turn;
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

Value TurnPlaces::addressIn(ImplicitLocOpBuilder &b,
                            const StridedView &view) const {
  const Entry &entry = entries.find(view.buffer)->second;
  Type element = cast<RankedTensorType>(view.buffer.getType()).getElementType();
  return b.create<device::ColumnOp>(device::PtrType::get(element), entry.column,
                                    view.offset);
}

StringRef TurnPlaces::bufferOfColumn(StringRef column) const {
  for (const auto &[value, entry] : entries)
    if (entry.column == column)
      return entry.buffer;
  return "";
}

bool TurnPlaces::isInvariant(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &op.getTurn() &&
         argument.getArgNumber() >=
             op.getSlices().size() + op.getStates().size();
}

StridedView TurnPlaces::viewOfInvariant(Value argument) const {
  return *viewOf(op->getOperand(cast<BlockArgument>(argument).getArgNumber()));
}

void TurnPlaces::noteAlignment(StridedView &view) const {
  if (isInvariant(view.buffer)) {
    view.offset += viewOfInvariant(view.buffer).offset;
  } else if (auto entry = entries.find(view.buffer); entry != entries.end()) {
    view.offset =
        std::gcd(view.offset + entry->second.elements, entry->second.stride);
  }
}
