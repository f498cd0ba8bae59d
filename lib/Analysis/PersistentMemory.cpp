//===- PersistentMemory.cpp - What lies before the arena ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/PersistentMemory.h"

#include "gpuopt/Analysis/Origins.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace gpuopt;

PersistentMemory::PersistentMemory(ModuleOp module,
                                   llvm::StringMap<unsigned> &usedNames)
    : usedNames(usedNames) {
  module.walk(
      [&](SymbolOpInterface symbol) { usedNames[symbol.getName()] = 1; });
  for (train::VariableOp variable : module.getOps<train::VariableOp>()) {
    variables[variable.getSymName()] = entries.size();
    Entry &entry = add(device::BufferKind::State, variable.getSymName(),
                       variable.getType());
    entry.variable = FlatSymbolRefAttr::get(variable.getSymNameAttr());
  }
}

PersistentMemory::Entry &PersistentMemory::add(device::BufferKind kind,
                                               StringRef origin, Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Entry entry{kind,         uniqueSymbol(origin, usedNames),
              origin.str(), tensor,
              end,          {},
              {},           {},
              -1,           {}};
  end = llvm::alignTo(end + device::sizeInBytes(tensor), kBufferAlignment);
  entries.push_back(std::move(entry));
  return entries.back();
}

/// Indices into tables of n rows lie in [0, n): the smallest n of all uses.
static int64_t indexLimitOf(Value value) {
  int64_t limit = -1;
  auto lower = [&](int64_t other) {
    limit = limit < 0 ? other : std::min(limit, other);
  };
  for (Operation *user : value.getUsers()) {
    if (auto fused = dyn_cast<nn::FusedOp>(user)) {
      for (auto [input, argument] :
           llvm::zip(fused.getInputs(), fused.getBody().front().getArguments()))
        if (input == value)
          if (int64_t inner = indexLimitOf(argument); inner >= 0)
            lower(inner);
    } else if (auto take = dyn_cast<nn::TakeOp>(user);
               take && take.getIndices() == value) {
      lower(cast<RankedTensorType>(take.getTable().getType()).getDimSize(0));
    } else if (isViewOp(user)) {
      if (int64_t inner = indexLimitOf(user->getResult(0)); inner >= 0)
        lower(inner);
    }
  }
  return limit;
}

void PersistentMemory::addStep(train::StepOp step) {
  for (auto [attribute, argument] :
       llvm::zip(step.getInputNames(), step.getBody().getArguments())) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    bool isLabels = step.getLabelsName() == name;
    if (!inputs.count(name)) {
      inputs[name] = entries.size();
      Entry &entry =
          add(isLabels ? device::BufferKind::Labels : device::BufferKind::Input,
              name, argument.getType());
      entry.externalName = name.str();
    }
    Entry &entry = entries[inputs[name]];
    entry.indexLimit = std::max(entry.indexLimit, indexLimitOf(argument));
    if (auto limit = step->getAttrOfType<IntegerAttr>("labelsLimit");
        limit && isLabels)
      entry.indexLimit = limit.getInt();
    if (auto ignore = step->getAttrOfType<IntegerAttr>("ignoreIndex");
        ignore && isLabels)
      entry.ignoreIndex = ignore;
  }
  for (Operation &op : step.getBody().front()) {
    if (auto output = dyn_cast<train::OutputOp>(op);
        output && !outputs.count(output.getName())) {
      outputs[output.getName()] = entries.size();
      add(device::BufferKind::Output, output.getName(),
          output.getValue().getType())
          .externalName = output.getName().str();
    }
    auto constant = dyn_cast<arith::ConstantOp>(op);
    auto value =
        constant ? dyn_cast<ElementsAttr>(constant.getValue()) : nullptr;
    if (value && !constants.count(value)) {
      constants[value] = entries.size();
      add(device::BufferKind::Constant, originOf(constant.getResult()),
          value.getType())
          .value = value;
    }
  }
}

StringRef PersistentMemory::symbolOfVariable(FlatSymbolRefAttr variable) const {
  return entries[variables.lookup(variable.getValue())].symbol;
}
RankedTensorType
PersistentMemory::typeOfVariable(FlatSymbolRefAttr variable) const {
  return entries[variables.lookup(variable.getValue())].type;
}
StringRef PersistentMemory::symbolOfInput(StringRef name) const {
  return entries[inputs.lookup(name)].symbol;
}
StringRef PersistentMemory::symbolOfOutput(StringRef name) const {
  return entries[outputs.lookup(name)].symbol;
}
StringRef PersistentMemory::symbolOfConstant(Attribute value) const {
  return entries[constants.lookup(value)].symbol;
}
