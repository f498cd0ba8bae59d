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
              {},           {}};
  end = llvm::alignTo(end + device::sizeInBytes(tensor), kBufferAlignment);
  entries.push_back(std::move(entry));
  return entries.back();
}

namespace {
/// What an input's numbers must lie in, by how its elements are used: those
/// that pick rows of a table within it, those that nn.in_range sees to within
/// the dimension, from either end. Where only a part of the input is used, the
/// rest of it may be anything, so that nn.in_range alone looks at it.
class IndexLimits {
public:
  static IndexRange of(Value value) {
    IndexLimits limits;
    limits.follow(value, /*isWhole=*/true);
    return limits.range;
  }

private:
  void lower(int64_t lowest, int64_t limit) {
    bool isFirst = range.limit < 0;
    range.lowest = isFirst ? lowest : std::max(range.lowest, lowest);
    range.limit = isFirst ? limit : std::min(range.limit, limit);
  }

  void follow(Value value, bool isWhole) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto fused = dyn_cast<nn::FusedOp>(user))
        follow(fused.getBody().getArgument(use.getOperandNumber()), isWhole);
      else if (auto yield = dyn_cast<nn::YieldOp>(user))
        follow(yield->getParentOp()->getResult(use.getOperandNumber()),
               isWhole);
      else if (auto take = dyn_cast<nn::TakeOp>(user))
        followTake(take, use);
      else if (auto check = dyn_cast<nn::InRangeOp>(user); check && isWhole)
        lower(-(int64_t)check.getSize(), check.getSize());
      else if (isViewOp(user) || isa<arith::ExtSIOp, arith::ExtUIOp>(user))
        follow(user->getResult(0), isWhole && !isa<nn::SliceOp>(user));
    }
  }

  void followTake(nn::TakeOp take, OpOperand &use) {
    if (&use == &take.getIndicesMutable())
      lower(0, cast<RankedTensorType>(take.getTable().getType()).getDimSize(0));
  }

  IndexRange range;
};
} // namespace

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
    if (IndexRange range = IndexLimits::of(argument);
        range.limit > entry.indices.limit)
      entry.indices = range;
    if (auto limit = step->getAttrOfType<IntegerAttr>("labelsLimit");
        limit && isLabels)
      entry.indices = {0, limit.getInt()};
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

StringRef gpuopt::nameOfPart(device::BufferKind kind,
                             train::VariableOp variable) {
  switch (kind) {
  case device::BufferKind::Constant:
    return "constants";
  case device::BufferKind::Output:
    return "outputs";
  case device::BufferKind::Input:
  case device::BufferKind::Labels:
    return "inputs";
  default:
    break;
  }
  if (!variable)
    return "other";
  switch (variable.getKind()) {
  case train::VariableKind::Parameter:
  case train::VariableKind::Frozen:
    return "parameters";
  case train::VariableKind::HalfCopy:
    return "half-precision copies";
  case train::VariableKind::Gradient:
    return "gradients";
  case train::VariableKind::OptimizerState:
    return "optimizer state";
  case train::VariableKind::Workspace:
    return "library workspace";
  case train::VariableKind::Staging:
    return "staged batches";
  default:
    return "buffers";
  }
}
