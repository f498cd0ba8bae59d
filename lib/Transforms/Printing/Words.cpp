//===- Words.cpp - What values are called in remarks ----------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Words.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;

std::string printing::wordOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto step = dyn_cast<train::StepOp>(argument.getOwner()->getParentOp());
    if (!step)
      return "an argument";
    Attribute name = step.getInputNames()[argument.getArgNumber()];
    return "%" + cast<StringAttr>(name).str();
  }
  Operation *op = value.getDefiningOp();
  if (auto read = dyn_cast<train::ReadOp>(op))
    return "@" + read.getVariable().str();
  std::string word = "the result of " + op->getName().getStringRef().str();
  if (op->getNumResults() == 1)
    return word;
  return "result " + std::to_string(cast<OpResult>(value).getResultNumber()) +
         " of " + op->getName().getStringRef().str();
}

std::string printing::listOf(ArrayRef<int64_t> numbers) {
  return "[" +
         llvm::join(llvm::map_range(
                        numbers, [](int64_t n) { return std::to_string(n); }),
                    ", ") +
         "]";
}

std::string printing::wordOf(const StridedView &view, Value own) {
  return (view.buffer == own ? "its own buffer" : wordOf(view.buffer)) +
         " at " + std::to_string(view.offset) + ", strides " +
         listOf(view.strides);
}
