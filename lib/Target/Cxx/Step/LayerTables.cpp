//===- LayerTables.cpp - The buffers of a loop's iterations ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Step/LayerTables.h"

#include "Text.h"
#include "Types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include <map>

using namespace mlir;
using namespace gpuopt;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Returns "layer" for "layers".
static StringRef singularOf(StringRef word) {
  return word == "layers" || word == "chunks" || word == "iterations"
             ? word.drop_back()
             : word;
}

/// Returns the name of a row's struct: "ForwardLayer" for "forward_layers", and
/// "ForwardLayer2" for "forward_layers_2".
static std::string typeNameOf(StringRef table) {
  std::string name;
  for (StringRef word : llvm::split(table, '_')) {
    word = singularOf(word);
    if (!word.empty())
      name += llvm::toUpper(word[0]) + word.drop_front().str();
  }
  return name;
}

static device::BufferOp bufferOf(Attribute cell, const SymbolTable &symbols) {
  return symbols.lookup<device::BufferOp>(
      device::sliceOf(cell).getBuffer().getAttr());
}

namespace {
/// A field of a table's struct, and the comment beside it.
struct TableField {
  std::string declaration, comment;
};
} // namespace

/// Describes what the buffers of a column hold: `f32[8,64]
/// "h.*.ln_1/layer_norm_*"`.
static std::string describeColumn(device::RepeatOp repeat, unsigned column,
                                  const SymbolTable &symbols) {
  SmallVector<StringRef> origins;
  for (auto row : repeat.getRows().getAsRange<ArrayAttr>())
    origins.push_back(bufferOf(row[column], symbols).getOrigin());
  auto type = cast<RankedTensorType>(
      bufferOf(cast<ArrayAttr>(repeat.getRows()[0])[column], symbols)
          .getType());
  std::string text = cxx::typeName(type.getElementType()) + "[";
  llvm::raw_string_ostream stream(text);
  llvm::interleave(type.getShape(), stream, ",");
  stream << "] " << cxx::quoted(cxx::commonPattern(origins));
  return text;
}

/// Calls `note` for the first call under each condition.
static void
forEachCondition(device::RepeatOp repeat,
                 llvm::function_ref<void(StringRef, Operation *)> note) {
  llvm::StringSet<> known;
  for (Operation &op : repeat.getBody().front())
    if (StringRef condition = device::conditionOf(&op);
        !condition.empty() && known.insert(condition).second)
      note(condition, &op);
}

/// Whether an iteration makes none of the calls that use a column.
static bool isUnused(device::RepeatOp repeat, StringRef column,
                     unsigned iteration) {
  for (auto use : repeat.getBody().getOps<device::ColumnOp>())
    if (use.getName() == column)
      for (Operation *call : use->getUsers())
        if (device::isMade(call, iteration))
          return false;
  return true;
}

/// Returns which calls of an iteration are made and where its buffers begin,
/// "{.recomputes_ln = true, .fc = 17408},", for the conditions, and the columns
/// that have a field.
static std::string rowText(device::RepeatOp repeat, unsigned iteration,
                           const llvm::StringMap<std::string> &fields,
                           const SymbolTable &symbols) {
  SmallVector<std::string> cells;
  auto add = [&](StringRef key, const Twine &value) {
    cells.push_back(("." + fields.lookup(key) + " = " + value).str());
  };
  forEachCondition(repeat, [&](StringRef condition, Operation *call) {
    add(condition, device::isMade(call, iteration) ? "true" : "false");
  });
  for (auto column : repeat.getColumns().getAsRange<StringAttr>()) {
    if (!fields.contains(column))
      continue;
    device::SliceAttr slice = repeat.sliceOf(column, iteration);
    if (isUnused(repeat, column, iteration))
      add(column, "kNowhere");
    else
      add(column,
          Twine(bufferOf(slice, symbols).getOffsetOf(slice.getElements())));
  }
  return "    {" + llvm::join(cells, ", ") + "},";
}

void cxx::LayerTables::print(device::RepeatOp repeat,
                             const SymbolTable &symbols, raw_ostream &stream) {
  Table &table = tables[repeat];
  table.row = singularOf(repeat.getName().split('_').second.split('_').first);
  NameLegaliser legaliser;
  bool movesOn = false;
  forEachCondition(repeat, [&](StringRef condition, Operation *) {
    table.fields[condition] = legaliser.unique(condition);
  });
  for (auto column : repeat.getColumns().getAsRange<StringAttr>())
    if (isInTable(repeat, column))
      table.fields[column] = legaliser.unique(column);
    else
      movesOn = true;
  if (movesOn) {
    table.iteration = table.row;
    table.row = "buffers";
  }
  if (table.fields.empty() && movesOn)
    return;
  table.name = names.unique(constantName(repeat.getName()));
  printComment(stream,
               "Where the buffers of each iteration of a loop begin, in "
               "bytes; plan.json has their lifetimes. A buffer is named after "
               "the first tensor in it: what is computed in place, and what an "
               "addition passes on, lies there, too.");
  // Loops that share a function have rows of one type.
  std::string &type =
      repeat.getFunction() ? types[*repeat.getFunction()] : table.type;
  if (type.empty()) {
    type = names.unique(typeNameOf(repeat.getName()));
    table.type = type;
    printType(repeat, table, symbols, stream);
  }
  table.type = type;
  stream << "constexpr " << table.type << " " << table.name << "[] = {\n";
  for (unsigned iteration = 0; iteration < repeat.getNumIterations();
       ++iteration)
    printLine(stream, rowText(repeat, iteration, table.fields, symbols));
  stream << "};\n\n";
}

void cxx::LayerTables::printType(device::RepeatOp repeat, const Table &table,
                                 const SymbolTable &symbols,
                                 raw_ostream &stream) {
  SmallVector<TableField> fields;
  size_t width = 0;
  forEachCondition(repeat, [&](StringRef condition, Operation *call) {
    std::string comment = commonPattern(commentsOf(call));
    fields.push_back({"  bool " + table.fields.lookup(condition) + ";",
                      quoted(StringRef(comment).split(" again").first)});
    width = std::max(width, fields.back().declaration.size());
  });
  for (auto [index, column] : llvm::enumerate(repeat.getColumns())) {
    auto field = table.fields.find(cast<StringAttr>(column).getValue());
    if (field == table.fields.end())
      continue;
    auto buffer =
        bufferOf(cast<ArrayAttr>(repeat.getRows()[0])[index], symbols);
    Type element = cast<RankedTensorType>(buffer.getType()).getElementType();
    fields.push_back(
        {"  Buffer<" + memoryType(element) + "> " + field->second + ";",
         describeColumn(repeat, index, symbols)});
    width = std::max(width, fields.back().declaration.size());
  }
  stream << "struct " << table.type << " {\n";
  for (const TableField &field : fields)
    stream << llvm::left_justify(field.declaration, width) << " // "
           << field.comment << "\n";
  stream << "};\n";
}

void cxx::LayerTables::print(device::StepOp step, const SymbolTable &symbols,
                             raw_ostream &stream) {
  for (device::RepeatOp repeat : step.getBody().getOps<device::RepeatOp>())
    print(repeat, symbols, stream);
}

void cxx::LayerTables::printLoopHead(device::RepeatOp repeat,
                                     raw_ostream &stream) const {
  const Table &table = tables.find(repeat)->second;
  if (table.iteration.empty()) {
    stream << "  for (const " << table.type << " &" << table.row << " : "
           << table.name << ") {\n";
    return;
  }
  stream << "  for (int64_t " << table.iteration << " = 0; " << table.iteration
         << " < " << repeat.getNumIterations() << "; ++" << table.iteration
         << ") {\n";
  if (!table.name.empty())
    printLine(stream, "    const " + table.type + " &" + table.row + " = " +
                          table.name + "[" + table.iteration + "];");
}

const cxx::LayerTables::Table *cxx::LayerTables::tableOf(Operation *op) const {
  auto table = tables.find(op->getParentOp());
  return table == tables.end() ? nullptr : &table->second;
}

std::pair<std::string, std::string>
cxx::LayerTables::rowOf(device::RepeatOp repeat) const {
  const Table &table = tables.find(repeat)->second;
  return {"const " + table.type + " &" + table.row, table.row};
}

std::string cxx::LayerTables::conditionOf(Operation *call) const {
  const Table *table = tableOf(call);
  return table->row + "." + table->fields.lookup(device::conditionOf(call));
}

cxx::ColumnAddress cxx::LayerTables::addressOf(device::ColumnOp column) const {
  const Table *table = tableOf(column);
  StringRef name = column.getName();
  ColumnAddress address;
  address.elements = column.getElements();
  if (auto field = table->fields.find(name); field != table->fields.end()) {
    address.buffer = table->row + "." + field->second;
    return address;
  }
  auto repeat = column->getParentOfType<device::RepeatOp>();
  device::SliceAttr first = repeat.sliceOf(name, 0);
  address.buffer = names.ofBuffer(first.getBuffer().getValue());
  address.elements += first.getElements();
  address.perIteration = *repeat.strideOf(name);
  address.iteration = table->iteration;
  return address;
}

//===----------------------------------------------------------------------===//
// Comments
//===----------------------------------------------------------------------===//

/// Splits a text into its numbers and what is between them.
static SmallVector<StringRef> runsOf(StringRef text) {
  SmallVector<StringRef> runs;
  while (!text.empty()) {
    bool isNumber = llvm::isDigit(text[0]);
    StringRef run =
        text.take_while([&](char c) { return llvm::isDigit(c) == isNumber; });
    runs.push_back(run);
    text = text.drop_front(run.size());
  }
  return runs;
}

/// Returns the text with a star in place of each number.
static std::string withoutNumbers(StringRef text) {
  std::string result;
  for (StringRef run : runsOf(text))
    result += llvm::isDigit(run[0]) ? "*" : run.str();
  return result;
}

std::string cxx::commonPattern(ArrayRef<StringRef> texts) {
  std::map<std::string, SmallVector<StringRef>> groups; // by equal text
  for (StringRef text : texts)
    groups[withoutNumbers(text)].push_back(text);
  const SmallVector<StringRef> *largest = nullptr;
  for (auto &[form, group] : groups)
    if (!largest || group.size() > largest->size())
      largest = &group;
  if (!largest)
    return "";
  SmallVector<StringRef> pattern = runsOf(largest->front());
  for (StringRef text : *largest)
    for (auto [common, run] : llvm::zip(pattern, runsOf(text)))
      if (common != run)
        common = "*";
  return llvm::join(pattern, "");
}

SmallVector<StringRef> cxx::commentsOf(Operation *call) {
  SmallVector<StringRef> comments;
  auto add = [&](DictionaryAttr attributes) {
    if (auto comment = attributes.getAs<StringAttr>("comment"))
      comments.push_back(comment);
  };
  if (auto iterations =
          call->getAttrOfType<ArrayAttr>(device::kIterationsAttribute))
    for (auto iteration : iterations.getAsRange<DictionaryAttr>())
      add(iteration);
  if (comments.empty())
    add(call->getAttrDictionary());
  return comments;
}
