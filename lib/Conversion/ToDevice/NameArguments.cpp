//===- NameArguments.cpp - Names of kernels' parameters -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Layers share kernels, and the names of their tensors have the last word in
// common: a parameter that is some layer's "weight" in every launch is called
// weight. A statistic is called by its role ("mean", "rstd") in the kernel that
// computes it and in those that read it. Where launches differ, a parameter
// stays the x or y that it was.
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

/// "addmm" of "model.h.0.mlp.c_fc/addmm_12", "weight" of "fc.weight", "softmax"
/// of "node_softmax_3": without what tells one layer from another.
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

/// What the printer calls indices and results of reductions.
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

/// What buffers are called where kernels take them.
class BufferWords {
public:
  explicit BufferWords(ModuleOp module) : symbols(module) {
    for (device::BufferOp buffer : module.getOps<device::BufferOp>())
      words[buffer.getSymName()] = wordFor(buffer);
  }

  /// The words for what a launch takes, after it has given roles to what it
  /// writes. A gradient is called after what it is the gradient of.
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
  llvm::StringMap<SmallVector<std::string>> wordsOf; // of kernels' operands
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
