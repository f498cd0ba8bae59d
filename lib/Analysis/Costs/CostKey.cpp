//===- CostKey.cpp - By which measured costs are found --------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/CostKey.h"

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

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

/// Names the work that computes `results`, whose ops are given in order:
/// "add_mul #8c3f01d2". Values are numbered by their first use, so that a clone
/// of the work has the same text.
static std::string kernelText(StringRef label, ArrayRef<Operation *> ops,
                              ValueRange results) {
  std::string work;
  llvm::raw_string_ostream stream(work);
  llvm::DenseMap<Value, unsigned> numbers;
  auto print = [&](ValueRange values) {
    for (Value value : values)
      stream << " %" << numbers.try_emplace(value, numbers.size()).first->second
             << " " << typeText(value.getType());
  };
  for (Operation *op : ops) {
    stream << op->getName();
    print(op->getOperands());
    // The values of constants and the streams of random numbers do not change
    // the work.
    if (!isa<arith::ConstantOp, nn::RandomUniformOp>(op))
      if (Attribute properties = op->getPropertiesAsAttribute())
        stream << " " << properties;
    stream << " ->";
    print(op->getResults());
    stream << "\n";
  }
  print(results);
  // The hash is the same on every machine, because files of costs are copied to
  // other machines.
  uint64_t hash = llvm::xxh3_64bits(work);
  return llvm::formatv("fused {0} #{1:x-8}", label, uint32_t(hash));
}

static std::string kernelText(nn::FusedOp op) {
  Block &body = op.getBody().front();
  return kernelText(op.getLabel(),
                    llvm::map_to_vector(body.without_terminator(),
                                        [](Operation &op) { return &op; }),
                    body.getTerminator()->getOperands());
}

CostKey gpuopt::costKeyOf(Operation *op) {
  std::string name = op->getName().stripDialect().str();
  if (auto fused = dyn_cast<nn::FusedOp>(op))
    name = kernelText(fused);
  else if (auto call = dyn_cast<RuntimeCallOpInterface>(op))
    name = call.getCostName();
  else if (auto update = dyn_cast<train::UpdateOp>(op))
    name = update.getOptimizer().str();
  else if (auto direction = dyn_cast<train::DirectionOp>(op))
    name = direction.getOptimizer().str() + "_direction";
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
  Value made = op.getBody().front().getTerminator()->getOperand(result);
  return {originOf(value),
          workText(kernelText(kernelLabel(slice.ops), slice.ops, made), reads,
                   value.getType())};
}
