//===- ModelHash.cpp - What tells a model from others ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Files/ModelHash.h"
#include "Files/TextHasher.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "gpuopt/Dialect/Onnx/IR/RunningStatistics.h"
#include "gpuopt/trainer/checkpoints/model_hash.h"

using namespace mlir;
using namespace gpuopt;

namespace {

class ModelHasher {
public:
  ModelHasher(bool hasSizes, llvm::function_ref<bool(StringRef)> isTrained)
      : hasSizes(hasSizes), isTrained(isTrained) {}

  std::string hash(onnx::GraphOp graph) {
    addGraph(graph.getBody());
    return hasher.digits(16);
  }

private:
  void addGraph(Region &graph) {
    for (BlockArgument input : graph.getArguments())
      addResult(input);
    for (Operation &op : graph.front()) {
      add(op.getName().getStringRef());
      if (auto node = dyn_cast<onnx::NodeOp>(op))
        addNode(node);
      else if (auto initializer = dyn_cast<onnx::InitializerOp>(op))
        addInitializer(initializer);
      for (Value operand : op.getOperands())
        add(std::to_string(numbers.lookup(operand)));
      for (Value result : op.getResults())
        addResult(result);
      for (Region &inner : op.getRegions())
        addGraph(inner);
    }
  }

  void add(StringRef text) { hasher.add(text); }
  template <typename T>
  void addPrinted(T printed) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printed.print(stream);
    add(text);
  }
  void addResult(Value result) {
    numbers.try_emplace(result, numbers.size());
    if (hasSizes)
      addPrinted(result.getType());
  }
  void addNode(onnx::NodeOp node) {
    add(node.getDomain());
    add(node.getOpType());
    add(std::to_string(node.getOpset()));
    addPrinted(Attribute(node.getOnnxAttributes()));
  }
  void addInitializer(onnx::InitializerOp op) {
    auto type = cast<RankedTensorType>(op.getResult().getType());
    bool isFloat = isa<FloatType>(type.getElementType());
    if (isFloat && (op.getIsConstant() != true || isTrained(op.getName()) ||
                    onnx::isRunningStatistic(op))) {
      add(op.getName());  // a weight
    } else if (isFloat) { // which may be large, and takes long to print
      addPrinted(type);
      ArrayRef<char> bytes =
          cast<DenseElementsAttr>(*op.getValue()).getRawData();
      add(StringRef(bytes.data(), bytes.size()));
    } else if (op.getValue()) {
      addPrinted(Attribute(*op.getValue()));
    }
  }

  const bool hasSizes; ///< Whether the types of inputs and results count.
  const llvm::function_ref<bool(StringRef)> isTrained;
  TextHasher hasher;
  DenseMap<Value, size_t> numbers;
};

} // namespace

static std::string hashOf(ModuleOp module, bool hasSizes,
                          llvm::function_ref<bool(StringRef)> isTrained) {
  for (auto graph : module.getOps<onnx::GraphOp>())
    return std::string(kModelHashVersion) + ":" +
           ModelHasher(hasSizes, isTrained).hash(graph);
  return "";
}

std::string gpuopt::hashOfModel(ModuleOp module,
                                llvm::function_ref<bool(StringRef)> isTrained) {
  return hashOf(module, /*hasSizes=*/true, isTrained);
}

std::string gpuopt::hashOfGraph(ModuleOp module,
                                llvm::function_ref<bool(StringRef)> isTrained) {
  return hashOf(module, /*hasSizes=*/false, isTrained);
}

std::string gpuopt::whyOtherGraph(const std::string &weights,
                                  const std::string &trained,
                                  const std::string &model,
                                  const std::string &now) {
  if (!are_other_models(trained, now))
    return "";
  return "'" + weights + "' was trained with another model than '" + model +
         "', which the program beside it names: its graph and constants have "
         "the hash " +
         read_model_hash(trained).digits + ", but those of the model have " +
         read_model_hash(now).digits +
         "; the file was changed since, or the program is of a later training";
}
