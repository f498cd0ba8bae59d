//===- UnmetBudget.cpp - Why a step does not fit --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/UnmetBudget.h"

#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Planning/Bytes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

PersistentParts train::persistentPartsOf(ModuleOp module) {
  llvm::StringMap<unsigned> names;
  PersistentMemory persistent(module, names);
  for (StepOp step : module.getOps<StepOp>())
    persistent.addStep(step);
  llvm::MapVector<StringRef, int64_t> bytes;
  for (const PersistentMemory::Entry &entry : persistent.getEntries()) {
    auto variable =
        entry.variable
            ? module.lookupSymbol<VariableOp>(entry.variable.getValue())
            : nullptr;
    bytes[nameOfPart(entry.kind, variable)] += sizeInBytes(entry.type);
  }
  PersistentParts parts(bytes.begin(), bytes.end());
  llvm::sort(parts, [](const auto &a, const auto &b) {
    return std::tie(b.second, a.first) < std::tie(a.second, b.first);
  });
  return parts;
}

/// Returns "name (512 KiB), ..." for the largest items.
template <class Items, class Name>
static std::string listOf(const Items &items, const Name &nameOf) {
  constexpr size_t kMostNames = 4;
  std::string text;
  for (auto &[item, bytes] : ArrayRef(items).take_front(kMostNames))
    text += (text.empty() ? "" : ", ") + nameOf(item) + " (" +
            planning::formatBytes(bytes) + ")";
  return text;
}

std::string train::textOf(const PersistentParts &parts) {
  if (parts.empty())
    return "";
  return "; beside activations, the program keeps " +
         listOf(parts, [](const std::string &name) { return name; });
}

std::string train::textOfPeak(const UnmetBudget &unmet) {
  if (unmet.heldBytes.empty())
    return "";
  return "; the largest tensors alive at '" + unmet.limitOrigin +
         "' are: " + listOf(unmet.heldBytes, [](const TensorName &name) {
           return name.text() + " " + name.type;
         });
}

UnmetBudgetAttr train::describeUnmet(MLIRContext *context,
                                     int64_t smallestInBytes,
                                     int64_t lowerLimitInBytes,
                                     const PersistentParts &parts,
                                     const UnmetBudget &unmet) {
  SmallVector<MemoryPartAttr> persistent;
  for (auto &[name, bytes] : parts)
    persistent.push_back(MemoryPartAttr::get(context, name, bytes));
  SmallVector<LiveTensorAttr> tensors;
  for (auto &[name, bytes] : unmet.heldBytes)
    tensors.push_back(LiveTensorAttr::get(
        context, name.origin, name.type, bytes,
        name.result >= 0 ? std::optional<int64_t>(name.result) : std::nullopt));
  return UnmetBudgetAttr::get(context, smallestInBytes, lowerLimitInBytes,
                              persistent, unmet.limitOrigin, tensors);
}
