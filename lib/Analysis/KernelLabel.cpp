//===- KernelLabel.cpp - What a kernel does, in a few words ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Clusters.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace gpuopt;

static StringRef shortName(StringRef mnemonic) {
  return llvm::StringSwitch<StringRef>(mnemonic)
      .Case("addf", "add")
      .Case("subf", "sub")
      .Case("mulf", "mul")
      .Case("divf", "div")
      .Case("negf", "neg")
      .Case("maximumf", "max")
      .Case("minimumf", "min")
      .Cases({"cmpf", "cmpi"}, "compare")
      .Cases({"extf", "truncf", "sitofp", "uitofp", "fptosi", "extui", "extsi",
              "trunci"},
             "cast")
      .Case("random_uniform", "random")
      .Default(mnemonic);
}

std::string gpuopt::kernelLabel(ArrayRef<Operation *> ops) {
  llvm::SetVector<StringRef> names;
  for (Operation *op : ops) {
    if (auto tag = op->getAttrOfType<StringAttr>("nn.from"))
      names.insert(tag.getValue());
    else if (auto reduce = dyn_cast<nn::ReduceOp>(op))
      names.insert(stringifyReductionKind(reduce.getKind()));
    else if (!isa<nn::BroadcastOp, nn::YieldOp, arith::ConstantOp,
                  arith::ExtFOp, arith::TruncFOp>(op))
      names.insert(shortName(op->getName().stripDialect()));
  }
  if (names.empty())
    return "copy";
  constexpr size_t kMostWords = 4;
  return llvm::join(ArrayRef(names.getArrayRef()).take_front(kMostWords), "_");
}

std::string gpuopt::kernelLabel(Block &body) {
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  return kernelLabel(ops);
}
