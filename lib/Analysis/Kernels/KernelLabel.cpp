//===- KernelLabel.cpp - What a kernel does, in a few words ---------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Kernels/Clusters.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Dialect/NN/IR/NNDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
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

/// Returns the usual name of an ONNX operator that is several ops here; empty
/// for all others.
static StringRef compositeName(StringAttr onnxOp) {
  if (!onnxOp)
    return "";
  return llvm::StringSwitch<StringRef>(onnxOp.getValue())
      .Case("BatchNormalization", "batch_norm")
      .Case("Celu", "celu")
      .Case("Elu", "elu")
      .Case("Gelu", "gelu")
      .Case("GroupNormalization", "group_norm")
      .Case("HardSigmoid", "hard_sigmoid")
      .Case("HardSwish", "hard_swish")
      .Case("InstanceNormalization", "instance_norm")
      .Case("LayerNormalization", "layer_norm")
      .Case("LogSoftmax", "log_softmax")
      .Case("MeanVarianceNormalization", "mean_variance_norm")
      .Case("Mish", "mish")
      .Case("RMSNormalization", "rms_norm")
      .Case("Selu", "selu")
      .Case("Sigmoid", "sigmoid")
      .Case("Softmax", "softmax")
      .Case("Softplus", "softplus")
      .Case("Swish", "swish")
      .Default("");
}

/// Returns the name of the composite op that an op is a part of, or null.
static StringAttr compositeOf(Operation *op) {
  return nn::NNDialect::FromAttrHelper(op->getContext()).getAttr(op);
}

namespace {

/// Collects the words for a kernel's ops, each once, in the order of their
/// first op.
class Words {
public:
  void addAll(ArrayRef<Operation *> ops) {
    for (Operation *op : ops)
      if (std::string node = originIn(op->getLoc()).name;
          compositeOf(op) && !node.empty())
        spelledOut.insert(node);
    for (Operation *op : ops)
      if (!isa<nn::BroadcastOp, nn::YieldOp, arith::ConstantOp, arith::ExtFOp,
               arith::TruncFOp>(op))
        add(op);
  }

  SmallVector<std::string> take() {
    // What a gradient computes again of its op is a part of the gradient.
    llvm::erase_if(words, [&](const std::string &word) {
      return !tags.contains(word) && known.contains(word + "_backward");
    });
    return std::move(words);
  }

private:
  void insert(const Twine &word) {
    if (known.insert(word.str()).second)
      words.push_back(word.str());
  }

  void add(Operation *op) {
    auto [node, isGradient] = originIn(op->getLoc());
    if (StringAttr tag = compositeOf(op)) {
      tags.insert(tag.getValue());
      insert(tag.getValue());
    } else if (StringRef whole = compositeName(onnxOpOf(op->getLoc()));
               !whole.empty()) {
      insert(whole + (isGradient ? "_backward" : ""));
    } else if (spelledOut.contains(node)) {
      return; // another op with the same tag
    } else if (node == "loss" && !onnxOpOf(op->getLoc())) {
      insert(isGradient ? "loss_backward" : "loss");
    } else if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
      insert(stringifyReductionKind(reduce.getKind()));
    } else if (isa<nn::PartialSumOp>(op)) {
      insert("sum");
    } else {
      insert(shortName(op->getName().stripDialect()));
    }
  }

  llvm::StringSet<> spelledOut; ///< Nodes that have an op with a tag.
  llvm::StringSet<> tags;
  SmallVector<std::string> words;
  llvm::StringSet<> known;
};

} // namespace

/// Returns "sum" or the like if a kernel only reduces.
static StringRef loneReduction(ArrayRef<Operation *> ops) {
  StringRef kind;
  for (Operation *op : ops) {
    if (isa<nn::YieldOp, arith::ExtFOp, arith::TruncFOp>(op))
      continue;
    auto reduce = dyn_cast<nn::ReduceOp>(op);
    if (!reduce || !kind.empty() || compositeOf(reduce))
      return "";
    kind = stringifyReductionKind(reduce.getKind());
  }
  return kind;
}

std::string gpuopt::kernelLabel(ArrayRef<Operation *> ops) {
  if (StringRef kind = loneReduction(ops); !kind.empty())
    return kind.str();
  Words words;
  words.addAll(ops);
  SmallVector<std::string> names = words.take();
  if (names.empty())
    return "copy";
  constexpr size_t kMostWords = 4;
  return llvm::join(ArrayRef(names).take_front(kMostWords), "_");
}

std::string gpuopt::kernelLabel(Block &body) {
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    ops.push_back(&op);
  return kernelLabel(ops);
}
