//===- GroupTables.cpp - The tensors of one call for many -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GroupTables.h"

#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/Optimizers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace gpuopt;
using cxx::GroupTables;
using cxx::TableCall;

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static Type elementOf(Value pointer) {
  return cast<device::PtrType>(pointer.getType()).getElement();
}

std::string cxx::sizeText(device::UpdateOp op) {
  if (!op.takesWholeShape())
    return std::to_string(op.getNumElements());
  Matrices m = matrices_of({op.getShape().data(), int(op.getShape().size())});
  return "{" + std::to_string(m.count) + ", " + std::to_string(m.rows) + ", " +
         std::to_string(m.columns) + "}";
}

SmallVector<Value> cxx::statesOf(StringRef optimizer,
                                 std::optional<ArrayAttr> names,
                                 ValueRange states) {
  llvm::StringMap<Value> given;
  if (names)
    for (auto [name, state] :
         llvm::zip(names->getAsRange<StringAttr>(), states))
      given[name] = state;
  SmallVector<Value> declared;
  for (const OptimizerState &state : find_optimizer(optimizer)->states)
    if (!state.name.empty())
      declared.push_back(given.lookup(state.name));
  return declared;
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

/// What is printed for a group.
struct Table {
  std::string type, name;
  std::string function;
  std::string comment;
  bool isOneLaunch = true, takesState = true;
};

} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// A row of a table, and the name of what it is of.
struct GroupTables::Row {
  std::string text, name;
};

/// Whether the runtime works on a table of updates in one launch.
static bool isOneLaunch(device::UpdateOp op) { return !op.takesWholeShape(); }

static SmallVector<std::string> cellsOf(device::UpdateOp op, int64_t firstSpan,
                                        const Cells &cells) {
  SmallVector<std::string> states = llvm::map_to_vector(
      cxx::statesOf(op.getOptimizer(), op.getStateNames(), op.getStates()),
      [&](Value state) { return cells.offsetOf(state); });
  bool isHalf = elementOf(op.getGradient()) != elementOf(op.getParameter());
  SmallVector<std::string> row{cells.offsetOf(op.getParameter()),
                               "{" + llvm::join(states, ", ") + "}",
                               cells.offsetOf(op.getGradient(), isHalf),
                               cells.offsetOf(op.getCopy()), cxx::sizeText(op)};
  if (isOneLaunch(op))
    row.push_back(std::to_string(firstSpan));
  row.push_back(op.getDecay() ? "true" : "false");
  if (op.getScratch())
    row.push_back(cells.offsetOf(op.getScratch()));
  return row;
}

static SmallVector<std::string> copyCells(Value to, Value from, bool isHalf,
                                          int64_t elements, int64_t firstSpan,
                                          const Cells &cells) {
  return {cells.offsetOf(to), cells.offsetOf(from, isHalf),
          std::to_string(elements), std::to_string(firstSpan)};
}

GroupTables::Row GroupTables::rowOf(device::GroupableCall call, Type half,
                                    int64_t firstSpan) {
  const Cells cells(symbols);
  Value named;
  auto copyRow = [&](Value to, Value from) {
    named = from;
    return copyCells(to, from, call.getHalfType() != nullptr,
                     call.getNumElements(), firstSpan, cells);
  };
  SmallVector<std::string> row =
      llvm::TypeSwitch<Operation *, SmallVector<std::string>>(call)
          .Case([&](device::UpdateOp op) {
            named = op.getParameter();
            return cellsOf(op, firstSpan, cells);
          })
          .Case([&](device::AccumulateOp op) {
            return copyRow(op.getTarget(), op.getValue());
          })
          .Case([&](device::SumPartsOp op) {
            named = op.getSum();
            return SmallVector<std::string>{
                cells.offsetOf(op.getSum()), cells.offsetOf(op.getParts()),
                std::to_string(op.getCount()), std::to_string(op.getColumns()),
                std::to_string(firstSpan)};
          })
          .Case([&](device::SnapshotOp op) {
            return copyRow(op.getSnapshot(), op.getValue());
          })
          .Case([&](device::RestoreOp op) {
            return copyRow(op.getValue(), op.getSnapshot());
          })
          .Case([&](device::RefreshOp op) {
            return copyRow(op.getCopy(), op.getValue());
          });
  return {"{" + llvm::join(row, ", ") + "}", cells.nameOf(named)};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

static std::string typeList(ArrayRef<Type> types) {
  SmallVector<std::string> names = llvm::map_to_vector(
      types, [](Type type) { return cxx::memoryType(type); });
  return llvm::join(names, ", ");
}

static Table tableOf(device::UpdateOp op, Type half) {
  const OptimizerInfo *optimizer = find_optimizer(op.getOptimizer());
  SmallVector<StringRef> states;
  for (const OptimizerState &state : optimizer->states)
    if (!state.name.empty())
      states.push_back(state.name);
  Type parameter = elementOf(op.getParameter());
  std::string types = typeList({parameter, half ? half : parameter});
  Table table;
  table.isOneLaunch = isOneLaunch(op);
  table.function = op.getOptimizer().str();
  table.name = cxx::constantName((op.getOptimizer() + "_updates").str());
  table.type = (table.isOneLaunch ? "UpdateRow<" : "ShapedUpdateRow<") + types +
               ", " + std::to_string(states.size()) + ">";
  table.comment =
      "What " + op.getOptimizer().str() + " updates: parameter, {" +
      llvm::join(states, ", ") + "}, gradient, copy in half precision, " +
      (table.isOneLaunch ? "elements, first span, decay"
                         : "{matrices, rows, columns}, decay, scratch memory") +
      "; each tensor by its offset in bytes.";
  return table;
}

static Table tableOfCopies(StringRef function, StringRef name, Value to,
                           Value from, Type half) {
  Type value = elementOf(from);
  // A gradient is of the type of its sum, or of half precision.
  if (half)
    value = elementOf(to);
  Table table;
  table.function = function.str();
  table.name = name.str();
  table.type =
      "CopyRow<" + typeList({elementOf(to), value, half ? half : value}) + ">";
  table.comment = "What " + function.str() +
                  " works on: to, from, elements, first span; each tensor by "
                  "its offset in bytes.";
  return table;
}

static Table tableOfParts() {
  Table table;
  table.function = "sum_parts";
  table.name = "kSumsOfParts";
  table.type = "SumPartsRow";
  table.comment = "What sum_parts works on: sum, parts, their number, columns, "
                  "first block; each tensor by its offset in bytes.";
  table.takesState = false;
  return table;
}

static Table tableOf(device::GroupOp group) {
  Type half = group.getHalfType();
  return llvm::TypeSwitch<Operation *, Table>(group.getCalls().front())
      .Case([&](device::UpdateOp op) { return tableOf(op, half); })
      .Case([&](device::AccumulateOp op) {
        return tableOfCopies("accumulate", "kSums", op.getTarget(),
                             op.getValue(), half);
      })
      .Case([&](device::SumPartsOp) { return tableOfParts(); })
      .Case([&](device::SnapshotOp op) {
        return tableOfCopies("snapshot", "kSnapshots", op.getSnapshot(),
                             op.getValue(), half);
      })
      .Case([&](device::RestoreOp op) {
        return tableOfCopies("restore", "kRestored", op.getValue(),
                             op.getSnapshot(), half);
      })
      .Case([&](device::RefreshOp op) {
        bool isHalf = elementOf(op.getCopy()) != elementOf(op.getValue());
        Table table =
            tableOfCopies("refresh", isHalf ? "kHalfCopies" : "kWrittenState",
                          op.getCopy(), op.getValue(), half);
        table.takesState = false;
        return table;
      });
}

/// Returns the number of blocks that work on the tensors of a call.
static int64_t spansOf(device::GroupableCall call) {
  int64_t elements = call.getNumElements();
  return isa<device::SumPartsOp>(call) ? sum_parts_blocks(elements)
                                       : sum_of_squares_partials(elements);
}

TableCall GroupTables::print(device::GroupOp group) {
  Table table = tableOf(group);
  table.name = names.unique(table.name);
  printComment(stream, table.comment);
  stream << (table.isOneLaunch ? "DEVICE_TABLE " : "constexpr ") << table.type
         << " " << table.name << "[] = {\n";
  int64_t spans = 0;
  for (device::GroupableCall call : group.getCalls()) {
    Row row = rowOf(call, group.getHalfType(), spans);
    stream << "    " << row.text << ", // " << quoted(row.name) << "\n";
    spans += spansOf(call);
  }
  stream << "};\n\n";
  TableCall call{table.function, {"ctx"}};
  if (table.takesState)
    call.arguments.push_back("state");
  llvm::append_values(call.arguments, "m", table.name);
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

bool GroupTables::areTabular(device::GradNormOp op) {
  return op.getGradients().size() > 1 && typesOf(op).size() <= 2 &&
         llvm::all_of(op.getGradients(), [](Value gradient) {
           return gradient.getDefiningOp<device::AddressOp>() != nullptr;
         });
}

std::string GroupTables::print(device::GradNormOp op) {
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
