//===- PersistentMemory.cpp - What lies before the arena ------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Memory/PersistentMemory.h"

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
    add(train::BufferKind::State, variable.getSymName(), variable.getType(),
        variable.getMemoryOffset())
        .variable = FlatSymbolRefAttr::get(variable.getSymNameAttr());
  }
}

int64_t gpuopt::endOfVariable(train::VariableOp variable, int64_t offset) {
  auto type = cast<RankedTensorType>(variable.getType());
  return llvm::alignTo(offset + sizeInBytes(type), kBufferAlignment);
}

LogicalResult gpuopt::verifyState(ModuleOp module) {
  std::map<int64_t, train::VariableOp> variableAt;
  for (train::VariableOp variable : module.getOps<train::VariableOp>()) {
    std::optional<uint64_t> offset = variable.getMemoryOffset();
    if (!offset)
      return variable.emitOpError(
          "has no memory offset; run train-plan-state before");
    if (*offset % kBufferAlignment != 0 || *offset < kFirstVariableOffset)
      return variable.emitOpError("expects a memory offset that is a multiple "
                                  "of ")
             << kBufferAlignment << " and at least " << kFirstVariableOffset
             << ", but got " << *offset;
    if (!variableAt.try_emplace(*offset, variable).second)
      return variable.emitOpError("lies at offset ")
             << *offset << ", as '" << variableAt[*offset].getSymName()
             << "' does";
  }
  int64_t end = 0;
  train::VariableOp last;
  for (auto [offset, variable] : variableAt) {
    if (offset < end)
      return variable.emitOpError("begins at offset ")
             << offset << ", before the end of '" << last.getSymName()
             << "' at " << end;
    end = endOfVariable(variable, offset);
    last = variable;
  }
  return success();
}

PersistentMemory::Entry &PersistentMemory::add(train::BufferKind kind,
                                               StringRef origin, Type type,
                                               std::optional<int64_t> offset) {
  auto tensor = cast<RankedTensorType>(type);
  Entry entry;
  entry.kind = kind;
  entry.symbol = uniqueSymbol(origin, usedNames);
  entry.origin = origin.str();
  entry.type = tensor;
  entry.offset = offset.value_or(end);
  int64_t last = entry.offset + sizeInBytes(tensor);
  end = std::max<int64_t>(end, llvm::alignTo(last, kBufferAlignment));
  entries.push_back(std::move(entry));
  return entries.back();
}

namespace {
/// Finds the range in which the elements of an input must lie, from how they
/// are used: within the table if they pick rows of it, and within the
/// dimension, counted from either end, if nn.in_range checks them. If only a
/// part of the input is used, the rest may hold anything, so that only
/// nn.in_range can check it.
class IndexLimits {
public:
  /// Returns null if any number is allowed.
  static train::IndexRangeAttr of(Value value) {
    IndexLimits limits;
    limits.follow(value, /*isWhole=*/true);
    return limits.limit < 0
               ? train::IndexRangeAttr()
               : train::IndexRangeAttr::get(value.getContext(), limits.lowest,
                                            limits.limit, std::nullopt);
  }

private:
  void narrow(int64_t begin, int64_t end) {
    bool isFirst = limit < 0;
    lowest = isFirst ? begin : std::max(lowest, begin);
    limit = isFirst ? end : std::min(limit, end);
  }

  void follow(Value value, bool isWhole) {
    for (OpOperand &use : value.getUses()) {
      Operation *user = use.getOwner();
      if (auto fused = dyn_cast<nn::FusedOp>(user))
        follow(fused.getBody().getArgument(use.getOperandNumber()), isWhole);
      else if (auto yield = dyn_cast<nn::YieldOp>(user))
        follow(yield->getParentOp()->getResult(use.getOperandNumber()),
               isWhole);
      else if (auto scan = dyn_cast<nn::ScanOp>(user))
        follow(scan.getIteration().getArgument(use.getOperandNumber()),
               isWhole);
      else if (auto take = dyn_cast<nn::TakeOp>(user))
        followTake(take, use);
      else if (auto check = dyn_cast<nn::InRangeOp>(user); check && isWhole)
        narrow(-(int64_t)check.getSize(), check.getSize());
      else if (isViewOp(user) || isa<arith::ExtSIOp, arith::ExtUIOp>(user))
        follow(user->getResult(0), isWhole && !isa<nn::SliceOp>(user));
    }
  }

  void followTake(nn::TakeOp take, OpOperand &use) {
    if (&use == &take.getIndicesMutable())
      narrow(0,
             cast<RankedTensorType>(take.getTable().getType()).getDimSize(0));
  }

  int64_t lowest = 0, limit = -1; ///< [lowest, limit), if it is not negative.
};
} // namespace

void PersistentMemory::addStep(train::StepOp step) {
  for (auto [attribute, argument] :
       llvm::zip(step.getInputNames(), step.getBody().getArguments())) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    bool isLabels = step.isLabels(name);
    if (!inputs.count(name)) {
      inputs[name] = entries.size();
      Entry &entry =
          add(isLabels ? train::BufferKind::Labels : train::BufferKind::Input,
              name, argument.getType());
      entry.externalName = name.str();
    }
    Entry &entry = entries[inputs[name]];
    if (train::IndexRangeAttr range = IndexLimits::of(argument);
        range &&
        (!entry.indices || range.getLimit() > entry.indices.getLimit()))
      entry.indices = range;
    if (train::IndexRangeAttr range = step.getRangeOfLabels(name))
      entry.indices = range;
  }
  for (Operation &op : step.getBody().front()) {
    if (auto output = dyn_cast<train::OutputOp>(op);
        output && !outputs.count(output.getName())) {
      outputs[output.getName()] = entries.size();
      add(train::BufferKind::Output, output.getName(),
          output.getValue().getType())
          .externalName = output.getName().str();
    }
    addConstant(&op);
    if (auto scan = dyn_cast<nn::ScanOp>(op))
      for (Operation &inner : scan.getIteration())
        addConstant(&inner);
  }
}

void PersistentMemory::addConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto value = constant ? dyn_cast<ElementsAttr>(constant.getValue()) : nullptr;
  if (value && !constants.count(value)) {
    constants[value] = entries.size();
    add(train::BufferKind::Constant, originOf(constant.getResult()),
        value.getType())
        .value = value;
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

StringRef gpuopt::nameOfPart(train::BufferKind kind,
                             train::VariableOp variable) {
  switch (kind) {
  case train::BufferKind::Constant:
    return "constants";
  case train::BufferKind::Output:
    return "outputs";
  case train::BufferKind::Input:
  case train::BufferKind::Labels:
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
  case train::VariableKind::Folded:
    return "folded weights";
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
