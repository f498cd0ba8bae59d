//===- CostKey.cpp - By which measured costs are found --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/CostKey.h"

#include "gpuopt/Analysis/Clusters.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace gpuopt;

/// " f32[8,4] f32[4,2]"
static std::string typesText(TypeRange types) {
  std::string text;
  for (Type type : types)
    text += " " + typeText(type);
  return text;
}

static std::string workText(const Twine &name, TypeRange reads,
                            TypeRange writes) {
  std::string text = name.str() + typesText(reads);
  return writes.empty() ? text : text + " ->" + typesText(writes);
}

static std::string originsOf(Operation *op) {
  SmallVector<std::string> origins;
  for (Value result : op->getResults())
    if (std::string origin = originOf(result);
        !llvm::is_contained(origins, origin))
      origins.push_back(origin);
  if (op->getNumResults() == 0)
    for (FlatSymbolRefAttr variable : train::variablesWritten(op))
      origins.push_back(variable.getValue().str());
  if (origins.empty())
    origins.push_back(nameOf(op->getLoc()));
  return llvm::join(origins, ", ");
}

CostKey gpuopt::costKeyOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto fused = dyn_cast<nn::FusedOp>(op))
    name = ("fused " + fused.getLabel()).str();
  else if (auto product = dyn_cast<nn::ContractOp>(op))
    name = ("contract " + product.getSpec()).str();
  return {originsOf(op),
          workText(name, op->getOperandTypes(), op->getResultTypes())};
}

CostKey gpuopt::costKeyOfSlice(nn::FusedOp op, unsigned result,
                               const KernelSlice &slice) {
  SmallVector<Type> reads;
  for (unsigned input : slice.inputs)
    reads.push_back(op.getInputs()[input].getType());
  for (unsigned other : slice.results)
    reads.push_back(op->getResult(other).getType());
  Value value = op->getResult(result);
  return {originOf(value),
          workText("fused " + kernelLabel(slice.ops), reads, value.getType())};
}
