//===- Initializers.cpp - What initializers are ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Initializers.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace gpuopt;

InitializerKinds::InitializerKinds(onnx::GraphOp graph, StringRef trainedParams,
                                   StringRef frozenParams,
                                   ArrayRef<std::string> storedWeights)
    : graph(graph), trainedParams(trainedParams), frozenParams(frozenParams) {
  for (const std::string &name : storedWeights)
    this->storedWeights.insert(name);
  for (auto initializer : graph.getBody().getOps<onnx::InitializerOp>()) {
    names.insert(initializer.getName());
    saysWhatIsTrained |= initializer.getTrained().has_value();
  }
}

/// Whether an initializer is a running statistic of batch normalisation,
/// which is state without a gradient.
static bool isRunningStatistic(onnx::InitializerOp op) {
  return llvm::any_of(op->getUses(), [](OpOperand &use) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    return node && node.is("BatchNormalization") && use.getOperandNumber() >= 3;
  });
}

/// Whether an initializer only configures nodes, as attributes do.
static bool isSetting(onnx::InitializerOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    return node &&
           (node.is("Resize") || node.is("Upsample") || node.is("OneHot")) &&
           use.getOperandNumber() >= 1;
  });
}

bool InitializerKinds::isWeight(onnx::InitializerOp op) const {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  // Numbers of 4 and 8 bits are stored results of a quantisation.
  if (!isa<FloatType>(type.getElementType()) || isSetting(op) ||
      type.getElementTypeBitWidth() <= 8 || neededConstants.contains(op))
    return false;
  if (isStored(op))
    return true;
  if (op.getIsConstant() == true && !isTrainedByFlag(op) &&
      !isRunningStatistic(op))
    return false;
  if (type.getNumElements() > 1 || op.getTrained() == true ||
      (type.getNumElements() == 1 && op.getIsConstant() == false) ||
      isTrainedByFlag(op))
    return true;
  StringRef last = op.getName().rsplit('.').second;
  return llvm::is_contained(
             {"weight", "bias", "scale", "gamma", "beta", "alpha"}, last) ||
         isRunningStatistic(op);
}

train::VariableKind InitializerKinds::kindOf(onnx::InitializerOp weight) const {
  if (isRunningStatistic(weight))
    return train::VariableKind::Buffer;
  bool isFrozen = (weight.getTrained() == false && !isTrainedByFlag(weight)) ||
                  matches(frozenParams, weight);
  return isFrozen ? train::VariableKind::Frozen
                  : train::VariableKind::Parameter;
}

SmallVector<StringRef> InitializerKinds::namesOf(onnx::InitializerOp op) const {
  llvm::SetVector<StringRef> found;
  found.insert(op.getName());
  auto add = [&](StringRef name) {
    if (!names.contains(name))
      found.insert(name);
  };
  if (ArrayAttr tied = op.getTiedAttr())
    for (StringAttr name : tied.getAsRange<StringAttr>())
      add(name);
  for (Operation *user : op->getUsers()) {
    auto node = dyn_cast<onnx::NodeOp>(user);
    if (!node || !node.is("Identity") || !node.getResultNamesAttr())
      continue;
    StringRef name = cast<StringAttr>(node.getResultNamesAttr()[0]);
    if (name.contains('.') && !name.contains('/'))
      add(name);
  }
  return found.takeVector();
}

bool InitializerKinds::matches(StringRef regex, onnx::InitializerOp op) const {
  return !regex.empty() && llvm::any_of(namesOf(op), [&](StringRef name) {
    return llvm::Regex(regex).match(name);
  });
}

bool InitializerKinds::isStored(onnx::InitializerOp op) const {
  return !storedWeights.empty() &&
         llvm::any_of(namesOf(op), [&](StringRef name) {
           return storedWeights.contains(name);
         });
}

bool InitializerKinds::isOfUnknownUse(onnx::InitializerOp op) const {
  static const StringRef arithmetic[] = {"Add",   "Div",     "Expand", "Mul",
                                         "PRelu", "Reshape", "Sub"};
  return !saysWhatIsTrained &&
         isa<FloatType>(getElementTypeOrSelf(op.getResult().getType())) &&
         llvm::any_of(op->getUsers(), [](Operation *user) {
           auto node = dyn_cast<onnx::NodeOp>(user);
           return node && node.getDomain().empty() &&
                  llvm::is_contained(arithmetic, node.getOpType());
         });
}

//===----------------------------------------------------------------------===//
// Frozen weights whose values nodes need
//===----------------------------------------------------------------------===//

bool InitializerKinds::canBeConstant(onnx::InitializerOp weight) const {
  return weight.getValue() && !isStored(weight) &&
         kindOf(weight) == train::VariableKind::Frozen;
}

llvm::DenseSet<Value> InitializerKinds::valuesOfConstants() {
  llvm::DenseSet<Value> values;
  // Nodes stand in the order of what they read.
  graph.walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool isOfConstants = llvm::all_of(
        op->getOperands(), [&](Value value) { return values.contains(value); });
    if (auto initializer = dyn_cast<onnx::InitializerOp>(op))
      isOfConstants = !isWeight(initializer) || canBeConstant(initializer);
    else if (auto node = dyn_cast<onnx::NodeOp>(op))
      isOfConstants = node.is("Shape") || node.is("Size") ||
                      (isOfConstants && node.getGraphs().empty());
    if (isOfConstants)
      values.insert_range(op->getResults());
  });
  return values;
}

void InitializerKinds::makeConstant(onnx::InitializerOp weight,
                                    onnx::NodeOp by) {
  if (neededConstants.insert(weight.getOperation()).second)
    neededWeights.push_back({weight, by});
}

bool InitializerKinds::makeConstants(ArrayRef<onnx::NodeOp> failed) {
  const size_t before = neededWeights.size();
  llvm::DenseSet<Value> ofConstants = valuesOfConstants();
  auto isCandidate = [&](onnx::InitializerOp op) {
    return op && isWeight(op) && canBeConstant(op);
  };
  for (onnx::NodeOp node : failed) {
    llvm::SetVector<Value> reads(node.getInputs().begin(),
                                 node.getInputs().end());
    for (size_t i = 0; i < reads.size(); ++i) {
      if (!ofConstants.contains(reads[i]))
        continue;
      Operation *op = reads[i].getDefiningOp();
      if (auto weight = dyn_cast<onnx::InitializerOp>(op); isCandidate(weight))
        makeConstant(weight, node);
      reads.insert_range(op->getOperands());
    }
  }
  // Constants decide in other ways, too, as within the graphs of a loop.
  if (neededWeights.size() == before && !failed.empty())
    graph.walk([&](onnx::InitializerOp weight) {
      if (isCandidate(weight))
        makeConstant(weight, failed.front());
    });
  return neededWeights.size() > before;
}
