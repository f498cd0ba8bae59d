//===- Trained.cpp - What a gradient flows to -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Trained.h"

#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace gpuopt;

static bool readsTrained(train::ReadOp read) {
  auto module = read->getParentOfType<ModuleOp>();
  auto variable =
      module ? module.lookupSymbol<train::VariableOp>(read.getVariableAttr())
             : nullptr;
  return variable && variable.isTrained();
}

bool gpuopt::isTrained(Value value) {
  SmallVector<Value> stack{value};
  llvm::DenseSet<Value> seen{value};
  while (!stack.empty()) {
    Value next = stack.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !isa<FloatType>(getElementTypeOrSelf(next.getType())))
      continue;
    if (auto read = dyn_cast<train::ReadOp>(op); read && readsTrained(read))
      return true;
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        stack.push_back(operand);
  }
  return false;
}
