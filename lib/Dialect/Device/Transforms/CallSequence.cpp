//===- CallSequence.cpp - The calls of a step, numbered -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallSequence.h"

using namespace mlir;
using namespace gpuopt::device;

CallSequence::CallSequence(StepOp step, const SymbolTable &symbols)
    : symbols(symbols) {
  SmallVector<Operation *> addresses;
  for (Operation &op : step.getBody().front()) {
    if (isa<AddressOp>(op)) {
      addresses.push_back(&op);
      continue;
    }
    calls.push_back({&op, addresses});
    numbers.push_back(numberOf(calls.back()));
    isOptional.push_back(op.hasAttr(kRecomputedAttribute) &&
                         canRepeat(calls.back()));
    addresses.clear();
  }
}

/// A call that cannot be part of a loop is equal to no other.
unsigned CallSequence::numberOf(const Call &call) {
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

bool CallSequence::isOnDevice(Operation *address) const {
  auto buffer = symbols.lookup<BufferOp>(cast<AddressOp>(address).getBuffer());
  return buffer && buffer.getKind() != BufferKind::Host;
}

bool CallSequence::canRepeat(const Call &call) const {
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
