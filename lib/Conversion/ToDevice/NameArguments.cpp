//===- NameArguments.cpp - Names of kernels' parameters -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Layers share kernels, and the names of their tensors end in the same word: a
// parameter that is some layer's "weight" in every launch is called weight. A
// statistic is called by its role ("mean", "rstd") in the kernel that computes
// it and in those that read it. Where launches differ, a parameter keeps its
// name x or y.
//
//===----------------------------------------------------------------------===//

#include "NameArguments.h"

#include "ResultRoles.h"
#include "gpuopt/Dialect/Device/IR/DeviceDialect.h"
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

static std::string wordFor(device::BufferOp buffer) {
  Origin origin = Origin::parse(buffer.getOrigin());
  std::string word = lastWord(origin.name);
  bool isWord =
      !word.empty() && !isLocal(word) && llvm::isAlpha(word[0]) &&
      llvm::all_of(word, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  return isWord ? (origin.isGradient ? "d_" : "") + word : "";
}

namespace {

/// The words that kernels use for the buffers that they take.
class BufferWords {
public:
  explicit BufferWords(ModuleOp module) : symbols(module) {
    for (device::BufferOp buffer : module.getOps<device::BufferOp>())
      words[buffer.getSymName()] = wordFor(buffer);
  }

  /// Gives roles to the buffers that a launch writes, and then returns the
  /// words for all that it takes. A gradient is named after the value that it
  /// is the gradient of.
  SmallVector<std::string> ofLaunch(device::LaunchOp launch) {
    auto kernel = symbols.lookup<device::KernelOp>(launch.getKernel());
    SmallVector<StringRef> known, buffers;
    for (Value operand : launch.getOperands()) {
      auto address = operand.getDefiningOp<device::AddressOp>();
      buffers.push_back(address ? address.getBuffer() : "");
      known.push_back(roles.lookup(buffers.back()));
    }
    known.resize(kernel.getBody().getNumArguments());
    SmallVector<StringRef> written = rolesOfResults(kernel, known);
    SmallVector<std::string> result;
    for (auto [buffer, role] : llvm::zip(buffers, written)) {
      std::string word = words.lookup(buffer);
      if (!buffer.empty() && !role.empty() &&
          !StringRef(word).starts_with("d_"))
        roles[buffer] = role;
      auto known = roles.find(buffer);
      result.push_back(known == roles.end() ? word : known->second.str());
    }
    return result;
  }

private:
  const SymbolTable symbols;
  llvm::StringMap<std::string> words;
  llvm::StringMap<StringRef> roles;
};

} // namespace

void gpuopt::nameArguments(ModuleOp module) {
  BufferWords bufferWords(module);
  /// The words for the operands of each kernel.
  llvm::StringMap<SmallVector<std::string>> wordsOf;
  module.walk([&](device::LaunchOp launch) {
    SmallVector<std::string> words = bufferWords.ofLaunch(launch);
    auto [known, isNew] = wordsOf.try_emplace(launch.getKernel(), words);
    if (!isNew)
      for (auto [word, other] : llvm::zip(known->second, words))
        if (word != other)
          word.clear();
  });
  Builder builder(module.getContext());
  for (device::KernelOp kernel : module.getOps<device::KernelOp>()) {
    SmallVector<Attribute> names(kernel.getArgumentNames().getValue());
    llvm::StringSet<> given;
    for (auto [index, word] : llvm::enumerate(wordsOf[kernel.getSymName()])) {
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
