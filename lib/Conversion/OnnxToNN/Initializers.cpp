//===- Initializers.cpp - What initializers are ---------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Initializers.h"

#include "gpuopt/Support/NameExpression.h"

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

/// Whether an initializer only configures nodes, as attributes do.
static bool isSetting(onnx::InitializerOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    return node &&
           (node.is("Resize") || node.is("Upsample") || node.is("OneHot")) &&
           use.getOperandNumber() >= 1;
  });
}

/// Whether an initializer only scales roundings: what calibrates a quantiser is
/// a buffer of PyTorch's fake_quantize, not a parameter.
static bool isScaleOfQuantizers(onnx::InitializerOp op) {
  return !op->use_empty() && llvm::all_of(op->getUses(), [](OpOperand &use) {
    auto node = dyn_cast<onnx::NodeOp>(use.getOwner());
    return node && (node.is("QuantizeLinear") || node.is("DequantizeLinear")) &&
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
      !onnx::isRunningStatistic(op))
    return false;
  if (type.getNumElements() > 1 || op.getTrained() == true ||
      (type.getNumElements() == 1 && op.getIsConstant() == false) ||
      isTrainedByFlag(op))
    return true;
  StringRef last = op.getName().rsplit('.').second;
  return llvm::is_contained(
             {"weight", "bias", "scale", "gamma", "beta", "alpha"}, last) ||
         onnx::isRunningStatistic(op);
}

train::VariableKind InitializerKinds::kindOf(onnx::InitializerOp weight) const {
  if (onnx::isRunningStatistic(weight))
    return train::VariableKind::Buffer;
  bool isFixed =
      weight.getTrained() ? !*weight.getTrained() : isScaleOfQuantizers(weight);
  // What a training has not saved has been a constant of it.
  bool isFrozen =
      (!storedWeights.empty() && !isStored(weight)) ||
      ((isFixed || matches(frozenParams, weight)) && !isTrainedByFlag(weight));
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
    return NameExpression(regex).match(name);
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

SmallVector<InitializerKinds::ConstantNode>
InitializerKinds::constantsLikeWeights() const {
  constexpr int64_t kMostOfSettings = 64;
  SmallVector<ConstantNode> found;
  if (saysWhatIsTrained)
    return found;
  onnx::GraphOp op = graph;
  op.walk([&](onnx::NodeOp node) {
    ElementsAttr value =
        node.is("Constant") ? node.getTensor("value") : ElementsAttr();
    if (!value || value.getNumElements() <= kMostOfSettings ||
        !isa<FloatType>(value.getElementType()))
      return;
    for (Operation *user : node->getUsers())
      if (auto reader = dyn_cast<onnx::NodeOp>(user);
          reader && (reader.is("MatMul") || reader.is("Gemm") ||
                     reader.is("Conv") || reader.is("ConvTranspose"))) {
        found.push_back({node, reader});
        return;
      }
  });
  return found;
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

void InitializerKinds::makeConstantsOf(
    onnx::NodeOp node, llvm::SetVector<Value> reads,
    llvm::function_ref<bool(Value)> isFollowed,
    llvm::DenseSet<Value> &followed) {
  for (size_t i = 0; i < reads.size(); ++i) {
    Operation *op = reads[i].getDefiningOp();
    if (!op || !isFollowed(reads[i]) || !followed.insert(reads[i]).second)
      continue;
    if (auto weight = dyn_cast<onnx::InitializerOp>(op);
        weight && isWeight(weight) && canBeConstant(weight))
      makeConstant(weight, node);
    // The elements of what only gives its shape decide nothing.
    if (auto other = dyn_cast<onnx::NodeOp>(op);
        other && (other.is("Shape") || other.is("Size")))
      continue;
    op->walk(
        [&](Operation *inner) { reads.insert_range(inner->getOperands()); });
  }
}

/// Returns what a node reads, and what the nodes read that have it in their
/// graphs.
static llvm::SetVector<Value> readsAround(onnx::NodeOp node) {
  llvm::SetVector<Value> reads;
  for (; node; node = node->getParentOfType<onnx::NodeOp>())
    reads.insert_range(node->getOperands());
  return reads;
}

bool InitializerKinds::makeConstants(ArrayRef<onnx::NodeOp> failed) {
  const size_t before = neededWeights.size();
  llvm::DenseSet<Value> ofConstants = valuesOfConstants(), followed;
  for (onnx::NodeOp node : failed)
    makeConstantsOf(
        node, {node.getInputs().begin(), node.getInputs().end()},
        [&](Value value) { return ofConstants.contains(value); }, followed);
  // Constants decide in other ways, too, as within the graphs of a loop.
  followed.clear();
  if (neededWeights.size() == before)
    for (onnx::NodeOp node : failed)
      makeConstantsOf(
          node, readsAround(node), [](Value) { return true; }, followed);
  return neededWeights.size() > before;
}
