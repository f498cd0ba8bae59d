//===- MultiTensorTables.cpp - The tensors of one call for many -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/MultiTensorTables.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;
using cxx::MultiTensorTables;
using cxx::TableCall;

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static Type elementOf(Value pointer) {
  return cast<device::PtrType>(pointer.getType()).getElement();
}

namespace {

/// Where the tensors of a row begin.
class Cells {
public:
  explicit Cells(const SymbolTable &symbols) : symbols(symbols) {}

  device::BufferOp bufferOf(Value pointer) const {
    return symbols.lookup<device::BufferOp>(
        pointer.getDefiningOp<device::AddressOp>().getBuffer());
  }
  std::string offsetOf(Value pointer) const {
    if (!pointer)
      return "kNowhere";
    return std::to_string(bufferOf(pointer).getOffsetOf(
        pointer.getDefiningOp<device::AddressOp>().getElements()));
  }
  /// Returns the initialiser of an EitherBuffer.
  std::string offsetOf(Value pointer, bool isHalf) const {
    return isHalf ? "{" + offsetOf(pointer) + ", true}" : offsetOf(pointer);
  }
  std::string nameOf(Value pointer) const {
    return bufferOf(pointer).getOrigin().str();
  }

private:
  const SymbolTable &symbols;
};

} // namespace

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string textOf(const device::MultiTensorRow::Cell &cell,
                          const Cells &cells) {
  if (auto *tensor = std::get_if<device::MultiTensorRow::Tensor>(&cell))
    return cells.offsetOf(tensor->pointer, tensor->isHalf);
  if (auto *tensors = std::get_if<SmallVector<Value>>(&cell))
    return "{" +
           llvm::join(llvm::map_range(
                          *tensors,
                          [&](Value tensor) { return cells.offsetOf(tensor); }),
                      ", ") +
           "}";
  return std::get<std::string>(cell);
}

static std::string textOf(const device::MultiTensorRow &row,
                          const Cells &cells) {
  return "{" +
         llvm::join(
             llvm::map_range(row.cells,
                             [&](const device::MultiTensorRow::Cell &cell) {
                               return textOf(cell, cells);
                             }),
             ", ") +
         "}";
}

static std::string typeList(ArrayRef<Type> types) {
  SmallVector<std::string> names = llvm::map_to_vector(
      types, [](Type type) { return cxx::memoryType(type); });
  return llvm::join(names, ", ");
}

/// Returns the type of the table's rows: "UpdateRow<float, f16, 2>".
static std::string rowType(const device::MultiTensorTable &table) {
  if (table.elementTypes.empty())
    return table.row;
  return table.row + "<" + typeList(table.elementTypes) +
         (table.count ? ", " + std::to_string(*table.count) : "") + ">";
}

TableCall MultiTensorTables::print(device::MultiTensorOp merged) {
  SmallVector<device::MultiTensorCall> calls = merged.getCalls();
  Type half = merged.getHalfType();
  device::MultiTensorTable table = calls.front().getTable(half);
  std::string name = names.unique(constantName(table.name));
  printComment(stream, table.comment);
  stream << (table.isOneLaunch ? "DEVICE_TABLE " : "constexpr ")
         << rowType(table) << " " << name << "[] = {\n";
  const Cells cells(symbols);
  int64_t spans = 0;
  for (device::MultiTensorCall call : calls) {
    device::MultiTensorRow row = call.getRow(spans);
    stream << "    " << textOf(row, cells) << ", // "
           << quoted(cells.nameOf(row.named)) << "\n";
    spans += call.getNumSpans();
  }
  stream << "};\n\n";
  TableCall call{table.function, {"ctx"}};
  if (table.takesState)
    call.arguments.push_back("state");
  llvm::append_values(call.arguments, "m", name);
  if (table.isOneLaunch)
    call.arguments.push_back(std::to_string(spans));
  return call;
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// The types of gradients, the widest first.
static SmallVector<Type> typesOf(device::GradNormOp op) {
  llvm::SetVector<Type> types;
  for (Value gradient : op.getGradients())
    types.insert(elementOf(gradient));
  SmallVector<Type> sorted = types.takeVector();
  llvm::sort(sorted, [](Type a, Type b) {
    return a.getIntOrFloatBitWidth() > b.getIntOrFloatBitWidth();
  });
  return sorted;
}

bool MultiTensorTables::areTabular(device::GradNormOp op) {
  return op.getGradients().size() > 1 && typesOf(op).size() <= 2 &&
         llvm::all_of(op.getGradients(), [](Value gradient) {
           return gradient.getDefiningOp<device::AddressOp>() != nullptr;
         });
}

std::string MultiTensorTables::print(device::GradNormOp op) {
  SmallVector<Type> types = typesOf(op);
  std::string name = names.unique("kNormTerms");
  printComment(stream, "The gradients whose norm is computed: gradient, number "
                       "of elements, number of its first span.");
  stream << "DEVICE_TABLE GradientRow<"
         << typeList({types.front(), types.back()}) << "> " << name
         << "[] = {\n";
  const Cells cells(symbols);
  int64_t spans = 0;
  for (auto [gradient, count] : llvm::zip(op.getGradients(), op.getCounts())) {
    auto address = gradient.getDefiningOp<device::AddressOp>();
    stream << "    {"
           << (address.getElements() == 0
                   ? names.ofBuffer(address.getBuffer())
                   : cells.offsetOf(gradient,
                                    elementOf(gradient) != types.front()))
           << ", " << count << ", " << spans << "},\n";
    spans += sum_of_squares_partials(count);
  }
  stream << "};\n\n";
  return name;
}
