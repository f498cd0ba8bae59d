//===- LoopWriter.cpp - Writes calls as loops over tables -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopWriter.h"

#include "ColumnNames.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt::device;

LoopWriter::LoopWriter(std::vector<Loop> loopsToWrite,
                       const SymbolTable &symbols)
    : loops(std::move(loopsToWrite)), symbols(symbols) {
  for (const Loop &loop : loops)
    for (const Iteration &iteration : loop.iterations)
      iterations.push_back(&iteration);
}

void LoopWriter::write() {
  collectOperands();
  collectColumns(/*ofAllIterations=*/true);
  collectColumns(/*ofAllIterations=*/false);
  nameConditions();
  unsigned first = 0;
  for (const Loop &loop : loops) {
    write(loop, first);
    first += loop.iterations.size();
  }
  eraseCalls();
}

const Call &LoopWriter::callAt(unsigned place, unsigned from) const {
  for (unsigned i = 0; i < iterations.size(); ++i)
    if (const Call *call = (*iterations[(from + i) % iterations.size()])[place])
      return *call;
  llvm_unreachable("some iteration makes the call");
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

LoopWriter::Operand LoopWriter::operandOf(unsigned place,
                                          unsigned number) const {
  auto addressIn = [&](const Call *call) {
    return cast<AddressOp>(call->addresses[number]);
  };
  int64_t elements = INT64_MAX;
  for (const Iteration *iteration : iterations)
    if (const Call *call = (*iteration)[place])
      elements = std::min<int64_t>(elements, addressIn(call).getElements());
  Cells cells;
  for (const Iteration *iteration : iterations) {
    const Call *call = (*iteration)[place];
    cells.push_back(
        call ? cellOf(SliceAttr::get(call->op->getContext(),
                                     addressIn(call).getBufferAttr(),
                                     addressIn(call).getElements() - elements))
             : Attribute());
  }
  return {cells, elements, std::nullopt};
}

void LoopWriter::collectOperands() {
  operands.resize(placeCount());
  for (unsigned place = 0; place < placeCount(); ++place)
    for (unsigned i = 0; i < callAt(place).addresses.size(); ++i)
      operands[place].push_back(operandOf(place, i));
}

static bool isOfAllIterations(ArrayRef<Attribute> cells) {
  return !llvm::is_contained(cells, Attribute());
}

/// Collects the columns of the table in the order of their first use.
void LoopWriter::collectColumns(bool ofAllIterations) {
  for (std::vector<Operand> &ofCall : operands)
    for (Operand &operand : ofCall)
      if (isOfAllIterations(operand.cells) == ofAllIterations &&
          !(ofAllIterations && llvm::all_equal(operand.cells)))
        operand.column = columnOf(operand.cells, ofAllIterations);
}

/// Returns in how many iterations two columns have the same cell, or nothing if
/// they have different ones in some.
static std::optional<unsigned> countEqual(ArrayRef<Attribute> one,
                                          ArrayRef<Attribute> other) {
  unsigned count = 0;
  for (auto [first, second] : llvm::zip(one, other)) {
    if (first && second && first != second)
      return std::nullopt;
    count += first && second;
  }
  return count;
}

/// Returns the number of a column with these cells. Where only some iterations
/// need the cells, it may be a column that has the same in those, or one of the
/// same name that only other iterations need.
unsigned LoopWriter::columnOf(const Cells &cells, bool ofAllIterations) {
  std::string stem = stemOf(cells);
  auto found = llvm::find_if(columns, [&](const Column &column) {
    if (ofAllIterations)
      return column.cells == cells;
    std::optional<unsigned> equal = countEqual(column.cells, cells);
    return equal &&
           (*equal > 0 || (column.stem == stem &&
                           elementOf(column.cells) == elementOf(cells)));
  });
  if (found == columns.end())
    found = columns.insert(found, Column{cells, stem, uniqueName(stem)});
  for (auto [own, other] : llvm::zip(found->cells, cells))
    own = own ? own : other;
  return found - columns.begin();
}

BufferOp LoopWriter::bufferOf(Attribute cell) const {
  return symbols.lookup<BufferOp>(sliceOf(cell).getBuffer().getAttr());
}

/// Returns the role of the buffers of a column, which all have the same; none
/// if they do not.
std::optional<StringRef> LoopWriter::roleOf(const Cells &cells) const {
  std::optional<StringRef> role = bufferOf(cells.front()).getRole();
  for (Attribute cell : cells)
    if (bufferOf(cell).getRole() != role)
      return std::nullopt;
  return role;
}

static std::string withoutDigits(StringRef text) {
  std::string result = text.str();
  llvm::erase_if(result, llvm::isDigit);
  return result;
}

/// Returns what the names of all, or at least of two that follow one another,
/// have in common.
static std::string commonName(ArrayRef<StringRef> origins) {
  if (origins.size() == 1)
    return columnName(origins.front());
  // The first or last iteration may be of another kind of layer.
  unsigned index = 0;
  while (index + 2 < origins.size() &&
         withoutDigits(origins[index]) != withoutDigits(origins[index + 1]))
    ++index;
  return columnName(origins[index], origins[index + 1]);
}

std::string LoopWriter::uniqueName(const std::string &stem) {
  std::string name = stem;
  for (unsigned count = 2; !names.insert(name).second; ++count)
    name = stem + "_" + std::to_string(count);
  return name;
}

Type LoopWriter::elementOf(const Cells &cells) const {
  for (Attribute cell : cells)
    if (cell)
      return cast<RankedTensorType>(bufferOf(cell).getType()).getElementType();
  llvm_unreachable("some iteration needs the column");
}

std::string LoopWriter::stemOf(const Cells &cells) const {
  Cells used;
  llvm::copy_if(cells, std::back_inserter(used),
                [](Attribute cell) { return bool(cell); });
  std::string stem = commonName(llvm::map_to_vector(
      used, [&](Attribute cell) { return bufferOf(cell).getOrigin(); }));
  if (std::optional<StringRef> role = roleOf(used))
    stem += "_" + role->str();
  return stem;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Names the conditions of calls that not all iterations make,
/// "recomputes_ln_2". Calls in a row that the same iterations make have one
/// condition, named after the last of them.
void LoopWriter::nameConditions() {
  conditions.resize(placeCount());
  std::vector<bool> makesNext;
  for (unsigned place = placeCount(); place-- > 0;) {
    std::vector<bool> makes;
    SmallVector<StringRef> tensors;
    for (const Iteration *iteration : iterations) {
      const Call *call = (*iteration)[place];
      makes.push_back(call);
      if (!call)
        continue;
      auto comment = call->op->getAttrOfType<StringAttr>("comment");
      tensors.push_back(comment ? comment.getValue().split(' ').first : "");
    }
    if (tensors.size() < iterations.size())
      conditions[place] = makes == makesNext
                              ? conditions[place + 1]
                              : uniqueName("recomputes_" + commonName(tensors));
    makesNext = makes;
  }
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void LoopWriter::write(const Loop &loop, unsigned first) {
  const Call *firstCall = *llvm::find_if(loop.iterations.front(),
                                         [](const Call *call) { return call; });
  OpBuilder builder(firstCall->firstOp());
  SmallVector<Attribute> rows;
  for (unsigned i = 0; i < loop.iterations.size(); ++i)
    rows.push_back(rowOf(loop, first, i, builder));
  SmallVector<StringRef> columnNames = llvm::map_to_vector(
      columns, [](const Column &column) { return StringRef(column.name); });
  auto repeat = RepeatOp::create(
      builder, firstCall->firstOp()->getLoc(), builder.getStringAttr(loop.name),
      builder.getStrArrayAttr(columnNames), builder.getArrayAttr(rows),
      /*function=*/StringAttr());
  builder.setInsertionPointToStart(&repeat.getBody().emplaceBlock());
  for (unsigned place = 0; place < placeCount(); ++place)
    writeCall(place, loop, first, builder);
}

/// Returns the row of an iteration. A cell that it does not need is that of
/// another iteration.
Attribute LoopWriter::rowOf(const Loop &loop, unsigned first, unsigned index,
                            OpBuilder &builder) const {
  return builder.getArrayAttr(
      llvm::map_to_vector(columns, [&](const Column &column) {
        if (Attribute cell = column.cells[first + index])
          return cell;
        auto ofLoop =
            ArrayRef(column.cells).slice(first, loop.iterations.size());
        for (ArrayRef<Attribute> cells : {ofLoop, ArrayRef(column.cells)})
          for (Attribute cell : cells)
            if (cell)
              return cell;
        llvm_unreachable("some iteration needs the column");
      }));
}

/// Writes the call at a place of the body, with its addresses.
void LoopWriter::writeCall(unsigned place, const Loop &loop, unsigned first,
                           OpBuilder &builder) {
  const Call &call = callAt(place, first);
  IRMapping mapping;
  for (auto [i, op] : llvm::enumerate(call.addresses)) {
    const Operand &operand = operands[place][i];
    if (!operand.column) {
      builder.clone(*op, mapping);
      continue;
    }
    auto address = cast<AddressOp>(op);
    auto entry =
        ColumnOp::create(builder, address.getLoc(), address.getType(),
                         columns[*operand.column].name, operand.elements);
    mapping.map(address.getResult(), entry.getResult());
  }
  noteIterations(builder.clone(*call.op, mapping), place, loop, builder);
}

/// Puts the attributes that differ from iteration to iteration into
/// kIterationsAttribute, and which iterations make the call.
void LoopWriter::noteIterations(Operation *call, unsigned place,
                                const Loop &loop, OpBuilder &builder) const {
  const std::string &condition = conditions[place];
  SmallVector<SmallVector<NamedAttribute>> each(loop.iterations.size());
  for (StringRef name : {StringRef("comment"), StringRef(kCostKeyAttribute)}) {
    auto valueIn = [&](const Iteration &iteration) {
      return iteration[place] ? iteration[place]->op->getAttr(name)
                              : Attribute();
    };
    if (llvm::all_equal(llvm::map_range(loop.iterations, valueIn)))
      continue;
    for (auto [iteration, attributes] : llvm::zip(loop.iterations, each))
      if (Attribute value = valueIn(iteration))
        attributes.push_back(builder.getNamedAttr(name, value));
    call->removeAttr(name);
  }
  if (!condition.empty())
    for (auto [iteration, attributes] : llvm::zip(loop.iterations, each))
      attributes.push_back(
          builder.getNamedAttr(iteration[place] ? kMakes : kSkips,
                               builder.getStringAttr(condition)));
  if (llvm::all_of(each,
                   [](const auto &attributes) { return attributes.empty(); }))
    return;
  call->setAttr(kIterationsAttribute,
                builder.getArrayAttr(llvm::map_to_vector(
                    each, [&](const auto &attributes) -> Attribute {
                      return builder.getDictionaryAttr(attributes);
                    })));
}

void LoopWriter::eraseCalls() {
  for (const Iteration *iteration : iterations)
    for (const Call *call : *iteration) {
      if (!call)
        continue;
      call->op->erase();
      for (Operation *address : call->addresses)
        address->erase();
    }
}
