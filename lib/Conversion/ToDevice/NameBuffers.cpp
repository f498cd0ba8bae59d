//===- NameBuffers.cpp - Names of buffers and of kernels' parameters ------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// A node or a fused kernel has several results, which one name does not tell
// apart: a statistic is called by its role ("mean", "rstd"), which the
// arithmetic shows, and a part of a sum by what is summed ("weight_parts").
//
// Layers share kernels, and the names of their tensors end in the same word: a
// parameter that is some layer's "weight" in every launch is called weight, or
// by its role. Where launches differ, a parameter keeps its name x or y.
//
//===----------------------------------------------------------------------===//

#include "NameBuffers.h"

#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
#include "gpuopt/Dialect/Device/IR/ValueRoles.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "gpuopt/Support/Origin.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace gpuopt;

/// Returns the last word of a name without what tells one layer from another:
/// "addmm" of "model.h.0.mlp.c_fc/addmm_12", "weight" of "fc.weight", "softmax"
/// of "node_softmax_3".
static std::string lastWord(StringRef origin) {
  StringRef word = origin.rsplit('/').second;
  if (word.empty())
    word = origin.rsplit('.').second;
  if (word.empty())
    word = origin;
  word.consume_front("node_");
  auto [stem, number] = word.rsplit('_');
  if (!number.empty() && llvm::all_of(number, llvm::isDigit))
    word = stem;
  return word.lower();
}

/// Whether the printer uses `word` as the name of an index or of the result of
/// a reduction.
static bool isLocal(StringRef word) {
  return word.size() == 1 ||
         llvm::is_contained({"row", "begin", "end", "left", "index", "sum",
                             "sums", "product", "products", "maximum", "maxima",
                             "minimum", "minima"},
                            word);
}

/// Returns the word for a buffer's origin or, with `useRole`, for its role.
static std::string wordFor(device::BufferOp buffer, bool useRole) {
  Origin origin = Origin::parse(buffer.getOrigin());
  std::string gradient = origin.isGradient ? "d_" : "";
  if (std::optional<StringRef> role = buffer.getRole(); role && useRole)
    return gradient + role->str();
  std::string word = lastWord(origin.name);
  bool isWord =
      !word.empty() && !isLocal(word) && llvm::isAlpha(word[0]) &&
      llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isWord ? gradient + word : "";
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

namespace {

/// Finds the roles of buffers.
class BufferRoles {
public:
  explicit BufferRoles(ModuleOp module) : module(module), symbols(module) {}

  void find() {
    module.walk([&](device::LaunchOp launch) { findParts(launch); });
    module.walk([&](device::SumPartsOp op) {
      nameParts(bufferOf(op.getParts()), bufferOf(op.getSum()));
    });
    module.walk([&](device::LaunchOp launch) { findStatistics(launch); });
  }

private:
  /// Returns the buffer of an address; null for other values.
  device::BufferOp bufferOf(Value operand) {
    auto address = operand.getDefiningOp<device::AddressOp>();
    return address ? symbols.lookup<device::BufferOp>(address.getBuffer())
                   : device::BufferOp();
  }

  /// Returns the buffers that a launch passes; null for other operands.
  SmallVector<device::BufferOp> buffersOf(device::LaunchOp launch) {
    SmallVector<device::BufferOp> buffers;
    for (Value operand : launch.getOperands())
      buffers.push_back(bufferOf(operand));
    auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
    buffers.resize(kernel.getBody().getNumArguments());
    return buffers;
  }

  bool isOfWeight(const Origin &origin) {
    auto variable = symbols.lookup<train::VariableOp>(origin.name);
    return variable && variable.isWeight();
  }

  /// Gives a buffer its role if it has parts of the gradient of a weight, which
  /// are added up to `sum`.
  void nameParts(device::BufferOp parts, device::BufferOp sum) {
    if (!parts || !sum)
      return;
    Origin origin = Origin::parse(sum.getOrigin());
    if (parts.getKind() == device::BufferKind::Arena && origin.isGradient &&
        isOfWeight(origin) && Origin::parse(parts.getOrigin()).isGradient &&
        isPartial(parts))
      parts.setRole(lastWord(origin.name) + "_parts");
  }

  /// Finds the buffers whose elements a launch sums.
  void findParts(device::LaunchOp launch) {
    auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
    SmallVector<device::BufferOp> buffers = buffersOf(launch);
    kernel.walk([&](device::StoreOp store) {
      auto to = dyn_cast<BlockArgument>(store.getPointer());
      BlockArgument from = device::summedArgument(store.getValue());
      if (!to || !from)
        return;
      device::BufferOp sum = buffers[to.getArgNumber()],
                       parts = buffers[from.getArgNumber()];
      nameParts(parts, sum);
    });
  }

  /// Whether a launch writes sums to the buffer.
  bool isPartial(device::BufferOp buffer) {
    if (partial.empty())
      module.walk([&](device::LaunchOp launch) {
        auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
        SmallVector<device::BufferOp> buffers = buffersOf(launch);
        kernel.walk([&](device::StoreOp store) {
          auto to = dyn_cast<BlockArgument>(store.getPointer());
          Operation *value = store.getValue().getDefiningOp();
          if (to &&
              isa_and_nonnull<device::LoopOp, device::CombineGroupsOp>(value))
            partial.insert(buffers[to.getArgNumber()]);
        });
      });
    return partial.contains(buffer);
  }

  void findStatistics(device::LaunchOp launch) {
    SmallVector<device::BufferOp> buffers = buffersOf(launch);
    SmallVector<StringRef> known;
    for (device::BufferOp buffer : buffers)
      known.push_back(buffer ? buffer.getRole().value_or("") : "");
    auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
    SmallVector<StringRef> written = device::rolesOfResults(kernel, known);
    for (auto [buffer, role] : llvm::zip(buffers, written))
      if (buffer && !role.empty() &&
          buffer.getKind() == device::BufferKind::Arena &&
          !Origin::parse(buffer.getOrigin()).isGradient)
        buffer.setRole(role);
  }

  ModuleOp module;
  const SymbolTable symbols;
  llvm::DenseSet<device::BufferOp> partial;
};

} // namespace

/// Returns the text of which the symbol of a buffer with a role is made:
/// "d h.0.ln_1.weight_parts" for a buffer of "d h.0.ln_1/layer_norm".
static std::string symbolText(device::BufferOp buffer) {
  Origin origin = Origin::parse(buffer.getOrigin());
  StringRef name = origin.name;
  // Behind the module's name there is the node's, which its number tells apart
  // from those of other layers and not from its other results.
  auto [module, node] = name.rsplit('/');
  origin.name =
      ((node.empty() ? name : module) + "." + *buffer.getRole()).str();
  return origin.text();
}

/// Writes the new names of buffers into the rows of a loop.
static void renameCells(device::RepeatOp repeat,
                        const llvm::StringMap<std::string> &renamed) {
  MLIRContext *context = repeat.getContext();
  auto newCell = [&](Attribute cell) {
    device::SliceAttr slice = device::sliceOf(cell);
    auto name = renamed.find(slice.getBuffer().getValue());
    if (name == renamed.end())
      return cell;
    return device::cellOf(device::SliceAttr::get(
        context, FlatSymbolRefAttr::get(context, name->second),
        slice.getElements()));
  };
  repeat.setRowsAttr(ArrayAttr::get(
      context,
      llvm::map_to_vector(repeat.getRows(), [&](Attribute row) -> Attribute {
        return ArrayAttr::get(
            context, llvm::map_to_vector(cast<ArrayAttr>(row), newCell));
      })));
}

/// Renames the buffers with roles.
static void renameBuffers(ModuleOp module) {
  llvm::StringMap<unsigned> used;
  for (Operation &op : *module.getBody()) {
    auto buffer = dyn_cast<device::BufferOp>(op);
    if (auto symbol = dyn_cast<SymbolOpInterface>(op);
        symbol && !(buffer && buffer.getRole()))
      used[symbol.getName()] = 1;
  }
  llvm::StringMap<std::string> renamed;
  for (device::BufferOp buffer : module.getOps<device::BufferOp>()) {
    if (!buffer.getRole())
      continue;
    std::string &name = renamed[buffer.getSymName()];
    name = uniqueSymbol(symbolText(buffer), used);
    buffer.setSymName(name);
  }
  module.walk([&](device::AddressOp address) {
    if (auto name = renamed.find(address.getBuffer()); name != renamed.end())
      address.setBuffer(name->second);
  });
  module.walk([&](device::RepeatOp repeat) { renameCells(repeat, renamed); });
}

//===----------------------------------------------------------------------===//
// Parameters of kernels
//===----------------------------------------------------------------------===//

/// Returns the words for the buffers that a launch passes. Where it writes to a
/// buffer that it reads, the role is that of what it writes.
static SmallVector<std::string> wordsOf(device::LaunchOp launch,
                                        const SymbolTable &symbols) {
  SmallVector<std::string> words;
  llvm::StringSet<> later;
  for (Value operand : llvm::reverse(launch.getOperands())) {
    auto address = operand.getDefiningOp<device::AddressOp>();
    words.push_back(
        address ? wordFor(symbols.lookup<device::BufferOp>(address.getBuffer()),
                          /*useRole=*/later.insert(address.getBuffer()).second)
                : "");
  }
  std::reverse(words.begin(), words.end());
  return words;
}

static void nameArguments(ModuleOp module) {
  const SymbolTable symbols(module);
  llvm::StringMap<SmallVector<std::string>> shared; // by kernel
  module.walk([&](device::LaunchOp launch) {
    SmallVector<std::string> own = wordsOf(launch, symbols);
    auto [known, isNew] = shared.try_emplace(launch.getKernel(), own);
    if (!isNew)
      for (auto [word, other] : llvm::zip(known->second, own))
        if (word != other)
          word.clear();
  });
  Builder builder(module.getContext());
  for (device::KernelOp kernel : module.getOps<device::KernelOp>()) {
    SmallVector<Attribute> names(kernel.getArgumentNames().getValue());
    llvm::StringSet<> given;
    for (auto [index, word] : llvm::enumerate(shared[kernel.getSymName()])) {
      if (word.empty() || index >= names.size())
        continue;
      std::string name = word;
      for (int count = 2; !given.insert(name).second; ++count)
        name = word + "_" + std::to_string(count);
      names[index] = builder.getStringAttr(name);
    }
    kernel.setArgumentNamesAttr(builder.getArrayAttr(names));
  }
}

void gpuopt::nameBuffers(ModuleOp module) {
  BufferRoles(module).find();
  renameBuffers(module);
  nameArguments(module);
}
