//===- RollLoops.cpp - Writes repeated calls as a loop --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The layers of a model make the same calls on different buffers, and work that
// is done in chunks makes them on different parts of the same buffers. This
// pass writes such calls once, as the body of a loop. Here, a call is an op of
// a step together with the addresses before it that are its operands. Two calls
// are equal if they differ in nothing but where these addresses point to, and
// in the names of where they come from. Assumes what convert-to-device leaves:
// each address has one reader and stands before it. The calls that are made,
// their order and what they read and write are the same afterwards, which
// device-unroll-loops shows.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Dialect/Device/Transforms/Passes.h"

#include "RepeatedRuns.h"
#include "gpuopt/Support/Origin.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include <set>

namespace gpuopt::device {
#define GEN_PASS_DEF_ROLLLOOPS
#include "gpuopt/Dialect/Device/Transforms/Passes.h.inc"
} // namespace gpuopt::device

using namespace mlir;
using namespace gpuopt::device;
using gpuopt::Origin;

/// A loop has at least 3 iterations and saves at least 8 calls, because its
/// table of buffers takes lines, too.
static constexpr unsigned kLeastIterations = 3, kLeastSaved = 8;

//===----------------------------------------------------------------------===//
// Names of columns
//===----------------------------------------------------------------------===//

/// Splits a name at points and slashes: "h.1.mlp/mul_3" is "h", "1", "mlp",
/// "mul_3". Each part also says whether a slash stands before it.
static SmallVector<std::pair<StringRef, bool>> partsOf(StringRef origin) {
  SmallVector<std::pair<StringRef, bool>> parts;
  bool behindSlash = false;
  while (true) {
    size_t end = origin.find_first_of("./");
    parts.push_back({origin.take_front(end), behindSlash});
    if (end == StringRef::npos)
      return parts;
    behindSlash = origin[end] == '/';
    origin = origin.drop_front(end + 1);
  }
}

/// Returns "mul" for "mul_3" and, where `isNode` is false, "ln_1" for "ln_1":
/// exporters number nodes, not modules.
static StringRef withoutNumber(StringRef part, bool isNode) {
  auto [stem, number] = part.rsplit('_');
  bool isNumbered =
      isNode && !number.empty() && llvm::all_of(number, llvm::isDigit);
  return isNumbered ? stem : part;
}

static std::string withoutDigits(StringRef text) {
  std::string result = text.str();
  llvm::erase_if(result, llvm::isDigit);
  return result;
}

/// Returns what the names of a tensor in two layers have in common after the
/// number of the layer: "attn_c_attn" for "h.1.attn.c_attn/addmm_4" and
/// "h.2.attn.c_attn/addmm_8".
static std::string columnName(StringRef first, StringRef second) {
  Origin one = Origin::parse(first), other = Origin::parse(second);
  auto parts = partsOf(one.name), others = partsOf(other.name);
  size_t behindLayer = 0;
  for (size_t i = 0; i < std::min(parts.size(), others.size()); ++i)
    if (parts[i].first != others[i].first && !parts[i].second) {
      behindLayer = i + 1;
      break;
    }
  std::string name = one.isGradient && other.isGradient ? "d" : "";
  bool hasModule = false;
  for (auto [part, isNode] : ArrayRef(parts).drop_front(behindLayer)) {
    if (isNode && hasModule)
      break;
    hasModule = true;
    name += (name.empty() ? "" : "_") + withoutNumber(part, isNode).lower();
  }
  for (char &c : name)
    if (!llvm::isAlnum(c))
      c = '_';
  if (name.empty() || !llvm::isAlpha(name[0]))
    name = "x" + name;
  return name;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

namespace {

/// A call with its addresses in their order.
struct Call {
  Operation *op;
  SmallVector<Operation *> addresses; ///< They are AddressOps.
};

/// A step as a sequence of calls, numbered such that equal ones have the same
/// number.
class CallSequence {
public:
  CallSequence(StepOp step, const SymbolTable &symbols) : symbols(symbols) {
    SmallVector<Operation *> addresses;
    for (Operation &op : step.getBody().front()) {
      if (isa<AddressOp>(op)) {
        addresses.push_back(&op);
        continue;
      }
      calls.push_back({&op, addresses});
      numbers.push_back(numberOf(calls.back()));
      addresses.clear();
    }
  }

  std::vector<Call> calls;
  std::vector<unsigned> numbers;

private:
  /// A call that cannot be part of a loop is equal to no other.
  unsigned numberOf(const Call &call) {
    if (!canRepeat(call))
      return next++;
    SmallVector<Attribute> key{StringAttr::get(
        call.op->getContext(), call.op->getName().getStringRef())};
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attribute : call.op->getAttrDictionary())
      if (!namesOrigin(attribute.getName()))
        kept.push_back(attribute);
    key.push_back(DictionaryAttr::get(call.op->getContext(), kept));
    Builder builder(call.op->getContext());
    for (Operation *op : call.addresses)
      key.push_back(TypeAttr::get(cast<AddressOp>(op).getType()));
    // The operand's number tells calls with an optional address from those
    // without it.
    for (Value operand : call.op->getOperands())
      key.push_back(builder.getI64IntegerAttr(
          llvm::find(call.addresses, operand.getDefiningOp()) -
          call.addresses.begin()));
    auto [found, isNew] = known.try_emplace(builder.getArrayAttr(key), next);
    next += isNew;
    return found->second;
  }

  bool isOnDevice(Operation *address) const {
    auto buffer =
        symbols.lookup<BufferOp>(cast<AddressOp>(address).getBuffer());
    return buffer && buffer.getKind() != BufferKind::Host;
  }

  bool canRepeat(const Call &call) const {
    return call.op->getNumResults() == 0 && call.op->getNumRegions() == 0 &&
           llvm::all_of(call.addresses,
                        [&](Operation *address) {
                          return address->hasOneUse() &&
                                 *address->user_begin() == call.op &&
                                 isOnDevice(address);
                        }) &&
           llvm::all_of(call.op->getOperands(), [&](Value operand) {
             return llvm::is_contained(call.addresses, operand.getDefiningOp());
           });
  }

  const SymbolTable &symbols;
  llvm::DenseMap<Attribute, unsigned> known;
  unsigned next = 0;
};

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Writes one run of calls as a loop.
class LoopWriter {
public:
  LoopWriter(ArrayRef<Call> calls, unsigned period, const SymbolTable &symbols)
      : calls(calls), period(period), iterations(calls.size() / period),
        symbols(symbols) {}

  /// Writes the loop. `names` counts the loops by their names.
  void write(StringRef section, llvm::StringMap<unsigned> &names) {
    OpBuilder builder(firstOp());
    Location loc = firstOp()->getLoc();
    collectColumns();
    std::string name = loopName(section, names);
    SmallVector<Attribute> rows;
    for (unsigned iteration = 0; iteration < iterations; ++iteration)
      rows.push_back(builder.getArrayAttr(
          llvm::map_to_vector(columns, [&](const auto &column) {
            return column.first[iteration];
          })));
    SmallVector<StringRef> columnNames = llvm::map_to_vector(
        columns, [](const auto &column) { return StringRef(column.second); });
    auto repeat = RepeatOp::create(builder, loc, builder.getStringAttr(name),
                                   builder.getStrArrayAttr(columnNames),
                                   builder.getArrayAttr(rows),
                                   /*function=*/StringAttr());
    Block *body = &repeat.getBody().emplaceBlock();
    for (unsigned index = 0; index < period; ++index)
      moveInto(body, index, builder);
    for (const Call &call : calls.drop_front(period)) {
      call.op->erase();
      for (Operation *address : call.addresses)
        address->erase();
    }
  }

private:
  Operation *firstOp() const {
    const Call &first = calls.front();
    return first.addresses.empty() ? first.op : first.addresses.front();
  }
  const Call &callOf(unsigned index, unsigned iteration) const {
    return calls[iteration * period + index];
  }

  /// Where an operand points to: the cell of each iteration, and the elements
  /// that are added to it in all iterations. The iteration that begins first in
  /// its buffer has a cell without elements of its own.
  struct Operand {
    ArrayAttr cells;
    int64_t elements;
  };
  Operand operandOf(unsigned index, unsigned number) const {
    auto addressIn = [&](unsigned iteration) {
      return cast<AddressOp>(callOf(index, iteration).addresses[number]);
    };
    int64_t elements = addressIn(0).getElements();
    for (unsigned iteration = 1; iteration < iterations; ++iteration)
      elements =
          std::min<int64_t>(elements, addressIn(iteration).getElements());
    // The first address may be erased by now; the call is only moved.
    MLIRContext *context = calls.front().op->getContext();
    SmallVector<Attribute> cells;
    for (unsigned iteration = 0; iteration < iterations; ++iteration)
      cells.push_back(cellOf(
          SliceAttr::get(context, addressIn(iteration).getBufferAttr(),
                         addressIn(iteration).getElements() - elements)));
    return {ArrayAttr::get(context, cells), elements};
  }

  /// Collects the columns of the table in the order of their first use.
  void collectColumns() {
    for (unsigned index = 0; index < period; ++index)
      for (unsigned i = 0; i < callOf(index, 0).addresses.size(); ++i) {
        ArrayAttr cells = operandOf(index, i).cells;
        if (llvm::all_equal(cells) || columns.contains(cells))
          continue;
        columns[cells] = uniqueName(cells);
      }
  }

  BufferOp bufferOf(ArrayAttr cells, unsigned iteration) const {
    return symbols.lookup<BufferOp>(
        sliceOf(cells[iteration]).getBuffer().getAttr());
  }

  /// Whether the iterations of the loop are chunks of the same work rather than
  /// layers: all have the same names, and a column moves on within a buffer.
  bool isOverChunks() const {
    for (unsigned index = 0; index < period; ++index)
      for (unsigned iteration = 1; iteration < iterations; ++iteration)
        if (callOf(index, iteration).op->getAttr("comment") !=
            callOf(index, 0).op->getAttr("comment"))
          return false;
    return llvm::any_of(columns, [](const auto &column) {
      return llvm::all_equal(llvm::map_range(column.first, [](Attribute cell) {
        return sliceOf(cell).getBuffer();
      }));
    });
  }

  /// Returns a name after the section of the step: "forward_layers", and for
  /// the second loop "forward_layers_2".
  std::string loopName(StringRef section,
                       llvm::StringMap<unsigned> &names) const {
    std::string name = section.str() + (isOverChunks() ? "_chunks" : "_layers");
    unsigned count = ++names[name];
    return count == 1 ? name : name + "_" + std::to_string(count);
  }

  /// Returns the role of the buffers of a column, which all have the same; none
  /// if they do not.
  std::optional<StringRef> roleOf(ArrayAttr cells) const {
    std::optional<StringRef> role = bufferOf(cells, 0).getRole();
    for (unsigned iteration = 1; iteration < iterations; ++iteration)
      if (bufferOf(cells, iteration).getRole() != role)
        return std::nullopt;
    return role;
  }

  std::string uniqueName(ArrayAttr cells) {
    auto origin = [&](unsigned iteration) {
      return bufferOf(cells, iteration).getOrigin();
    };
    // The first or last iteration may be of another kind of layer.
    unsigned iteration = 0;
    while (iteration + 2 < iterations &&
           withoutDigits(origin(iteration)) !=
               withoutDigits(origin(iteration + 1)))
      ++iteration;
    std::string stem = columnName(origin(iteration), origin(iteration + 1));
    if (std::optional<StringRef> role = roleOf(cells))
      stem += "_" + role->str();
    std::string name = stem;
    for (unsigned count = 2; !names.insert(name).second; ++count)
      name = stem + "_" + std::to_string(count);
    return name;
  }

  /// Moves a call of the first iteration, with its addresses, into the loop.
  void moveInto(Block *body, unsigned index, OpBuilder &builder) {
    const Call &call = callOf(index, 0);
    for (auto [i, op] : llvm::enumerate(call.addresses)) {
      auto address = cast<AddressOp>(op);
      Operand operand = operandOf(index, i);
      auto column = columns.find(operand.cells);
      if (column == columns.end()) {
        address->moveBefore(body, body->end());
        continue;
      }
      builder.setInsertionPointToEnd(body);
      auto entry =
          ColumnOp::create(builder, address.getLoc(), address.getType(),
                           column->second, operand.elements);
      address.getResult().replaceAllUsesWith(entry.getResult());
      address->erase();
    }
    call.op->moveBefore(body, body->end());
    noteIterations(index, builder);
  }

  /// Puts the attributes that differ from iteration to iteration into
  /// kIterationsAttribute.
  void noteIterations(unsigned index, OpBuilder &builder) {
    Operation *op = callOf(index, 0).op;
    SmallVector<SmallVector<NamedAttribute>> each(iterations);
    for (StringRef name :
         {StringRef("comment"), StringRef(kCostKeyAttribute)}) {
      Attribute own = op->getAttr(name);
      bool differs = false;
      for (unsigned iteration = 1; iteration < iterations; ++iteration)
        differs |= callOf(index, iteration).op->getAttr(name) != own;
      if (!differs)
        continue;
      for (unsigned iteration = 0; iteration < iterations; ++iteration)
        if (Attribute value = callOf(index, iteration).op->getAttr(name))
          each[iteration].push_back(builder.getNamedAttr(name, value));
      op->removeAttr(name);
    }
    if (llvm::all_of(each,
                     [](const auto &attributes) { return attributes.empty(); }))
      return;
    op->setAttr(kIterationsAttribute,
                builder.getArrayAttr(llvm::map_to_vector(
                    each, [&](const auto &attributes) -> Attribute {
                      return builder.getDictionaryAttr(attributes);
                    })));
  }

  ArrayRef<Call> calls;
  unsigned period, iterations;
  const SymbolTable &symbols;
  /// The names of columns by the cells of all iterations.
  llvm::MapVector<ArrayAttr, std::string> columns;
  llvm::StringSet<> names;
};

class RollLoops : public gpuopt::device::impl::RollLoopsBase<RollLoops> {
  void runOnOperation() override {
    const SymbolTable symbols(getOperation());
    llvm::StringMap<unsigned> names;
    for (StepOp step : getOperation().getOps<StepOp>())
      rollStep(step, symbols, names);
  }

  void rollStep(StepOp step, const SymbolTable &symbols,
                llvm::StringMap<unsigned> &names) {
    CallSequence sequence(step, symbols);
    for (const RepeatedRun &run : findRuns(sequence)) {
      auto calls = ArrayRef(sequence.calls).slice(run.first, run.size());
      LoopWriter(calls, run.period, symbols)
          .write(sectionName(step, calls.front().op), names);
      ++loopCount;
      callCount += run.size();
    }
    shareFunctions(step);
  }

  /// Returns the runs that become loops. A run that may begin at several calls
  /// begins where its iterations are those of a run that may not, so that the
  /// loops can share a function.
  static std::vector<RepeatedRun> findRuns(const CallSequence &sequence) {
    auto iterationAt = [&](unsigned first, unsigned period) {
      return ArrayRef(sequence.numbers).slice(first, period).vec();
    };
    std::set<std::vector<unsigned>> fixed;
    auto align = [&](const RepeatedRun &run) {
      for (unsigned shift = 0; shift <= run.slack; ++shift)
        if (fixed.count(iterationAt(run.first + shift, run.period)))
          return shift;
      return alignToLayers(sequence.calls, run);
    };
    auto find = [&] {
      return findRepeatedRuns(sequence.numbers, kLeastIterations, kLeastSaved,
                              align);
    };
    for (const RepeatedRun &run : find())
      if (run.slack == 0)
        fixed.insert(iterationAt(run.first, run.period));
    return find();
  }

  /// Gives loops that have the same calls a function: "backward_layer" where
  /// the first of them is "backward_layers".
  static void shareFunctions(StepOp step) {
    auto loops = llvm::to_vector(step.getBody().getOps<RepeatOp>());
    for (size_t i = 0; i < loops.size(); ++i)
      for (size_t j = 0; j < i; ++j) {
        RepeatOp first = loops[j];
        if (!first.canShareFunction(loops[i]))
          continue;
        std::string name = first.getName().str();
        name.erase(name.rfind('s'), 1);
        auto function = StringAttr::get(step.getContext(), name);
        first.setFunctionAttr(function);
        loops[i].setFunctionAttr(function);
        break;
      }
  }

  /// Returns the part by which the node names of two iterations differ first:
  /// the number of the layer.
  static StringRef layerOf(Operation *call, Operation *next) {
    auto comment = call->getAttrOfType<StringAttr>("comment"),
         other = next->getAttrOfType<StringAttr>("comment");
    if (!comment || !other)
      return "";
    for (auto [part, otherPart] : llvm::zip(partsOf(comment), partsOf(other)))
      if (part.first != otherPart.first)
        return part.first;
    return "";
  }

  /// Returns by how many calls the start of a run should move so that one
  /// iteration contains calls of as few layers as possible.
  static unsigned alignToLayers(ArrayRef<Call> calls, const RepeatedRun &run) {
    unsigned best = 0;
    size_t fewest = SIZE_MAX;
    for (unsigned shift = 0; shift <= run.slack; ++shift) {
      llvm::StringSet<> layers;
      for (unsigned i = run.first + shift; i < run.first + shift + run.period;
           ++i)
        layers.insert(layerOf(calls[i].op, calls[i + run.period].op));
      if (layers.size() < fewest) {
        fewest = layers.size();
        best = shift;
      }
    }
    return best;
  }

  /// Returns the part of the step that a call is in: "forward".
  static StringRef sectionName(StepOp step, Operation *call) {
    if (step.getKind() == gpuopt::train::StepKind::Evaluate)
      return "evaluation";
    StringRef section = sectionOf(call);
    return section.empty() ? step.getSymName() : section;
  }
};

} // namespace
