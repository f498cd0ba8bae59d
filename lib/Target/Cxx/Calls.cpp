//===- Calls.cpp - What the calls of a step are ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calls.h"

#include "Names.h"
#include "Text.h"
#include "Types.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"

using namespace mlir;
using namespace gpuopt;

bool cxx::isTimed(device::StepOp step) {
  return step.getKind() == train::StepKind::Micro ||
         step.getKind() == train::StepKind::Update;
}

cxx::OpCalls cxx::callsOf(Operation *op, unsigned turn) {
  auto key = op->getAttrOfType<ArrayAttr>(device::kCostKeyAttribute);
  if (Attribute own =
          device::attributeInTurn(op, turn, device::kCostKeyAttribute))
    key = cast<ArrayAttr>(own);
  if (!key || key.size() != 2)
    return {"", op->getName().stripDialect().str()};
  return {cast<StringAttr>(key[0]).str(), cast<StringAttr>(key[1]).str()};
}

std::vector<cxx::OpCalls> cxx::callsOf(device::GroupOp group, int count) {
  std::vector<OpCalls> calls;
  for (device::GroupableCall op : group.getCalls()) {
    OpCalls call = callsOf(op.getOperation());
    call.count = calls.empty() ? count : 0;
    call.elements = op.getNumElements();
    calls.push_back(call);
  }
  return calls;
}

std::string cxx::callTableName(StringRef function) {
  return constantName(function) + "Calls";
}

void cxx::printCallTable(StringRef function, ArrayRef<OpCalls> calls,
                         raw_ostream &stream) {
  stream << "\nstatic const CallInfo " << callTableName(function) << "[] = {\n";
  for (const OpCalls &op : calls)
    stream << "    {" << quoted(op.origin) << ", " << quoted(op.work) << ", "
           << op.count
           << (op.elements ? ", " + std::to_string(op.elements) : "") << "},\n";
  stream << "};\n";
}

std::string cxx::callsFile(StringRef tables) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  printComment(stream,
               "The calls of each step, in order, as --profile-costs-to lists "
               "them: origin, work, and how many calls it makes.");
  stream << "#pragma once\n\n#include \"gpuopt/program/program.h\"\n\n"
         << "namespace gpuopt::model {\n"
         << tables << "\n} // namespace gpuopt::model\n";
  return text;
}
