//===- Initializers.h - What initializers are -------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_CONVERSION_ONNXTONN_INITIALIZERS_H
#define GPUOPT_LIB_CONVERSION_ONNXTONN_INITIALIZERS_H

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "gpuopt/Dialect/Onnx/IR/RunningStatistics.h"
#include "gpuopt/Dialect/Train/IR/TrainDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringSet.h"

namespace gpuopt {

/// Tells which initializers of a graph are constants of the program, and which
/// are variables of it.
class InitializerKinds {
public:
  /// The regular expressions, which may be empty, are of names of initializers
  /// to train and to keep as they are. `storedWeights` are the names of what a
  /// training has saved.
  InitializerKinds(onnx::GraphOp graph, llvm::StringRef trainedParams,
                   llvm::StringRef frozenParams,
                   llvm::ArrayRef<std::string> storedWeights);

  /// Whether an initializer is a variable. A weight is a floating-point tensor
  /// of more than one element; a single number is one only by its name or if
  /// the file says so, since exporters leave constants as initializers too.
  /// What the file says is a constant is one, unless training changes it.
  bool isWeight(onnx::InitializerOp op) const;
  /// Returns the kind of variable that a weight becomes.
  train::VariableKind kindOf(onnx::InitializerOp weight) const;
  /// Returns the initializer's name, and other names that the exported module
  /// has for it. gpuopt.export notes these. TorchScript's exporter leaves an
  /// Identity whose name has a dot and no slash, which no other value's name
  /// has.
  llvm::SmallVector<llvm::StringRef> namesOf(onnx::InitializerOp op) const;
  /// Whether the file may only have left out that an initializer is trained:
  /// one that arithmetic reads, as the temperature of a model.
  bool isOfUnknownUse(onnx::InitializerOp op) const;

  /// A Constant node whose numbers may be a weight, and a node that reads it.
  struct ConstantNode {
    onnx::NodeOp node;
    onnx::NodeOp reader;
  };
  /// Returns the large floating-point tensors of Constant nodes that products
  /// and convolutions read, if the file does not say what is trained: their
  /// exporter may have left weights in them, which are never trained.
  llvm::SmallVector<ConstantNode> constantsLikeWeights() const;

  /// Makes constants of frozen weights, given nodes that could not be
  /// converted. A weight becomes one if such a node reads it, or reads what is
  /// computed from it and from other constants and shapes alone. If there is no
  /// such weight, all become constants from which these nodes, and those that
  /// have them in their graphs, compute anything. Returns whether any weight
  /// became one.
  bool makeConstants(llvm::ArrayRef<onnx::NodeOp> failed);
  /// A weight that is a constant because of a node.
  struct Needed {
    onnx::InitializerOp weight;
    onnx::NodeOp by;
  };
  llvm::ArrayRef<Needed> needed() const { return neededWeights; }

private:
  bool matches(llvm::StringRef regex, onnx::InitializerOp op) const;
  bool isTrainedByFlag(onnx::InitializerOp op) const {
    return matches(trainedParams, op);
  }
  /// Whether a training has saved an initializer, which --trained-params may
  /// have told it to train.
  bool isStored(onnx::InitializerOp op) const;
  /// Whether a weight keeps its value, which is at hand.
  bool canBeConstant(onnx::InitializerOp weight) const;
  /// Returns the values that constants, shapes and weights that can be
  /// constants decide.
  llvm::DenseSet<mlir::Value> valuesOfConstants();
  void makeConstant(onnx::InitializerOp weight, onnx::NodeOp by);
  /// Makes constants of the weights from which `reads` are computed, as far as
  /// values are followed. What was followed for an earlier node is not
  /// followed again: all weights behind it that can be constants already are.
  void makeConstantsOf(onnx::NodeOp node, llvm::SetVector<mlir::Value> reads,
                       llvm::function_ref<bool(mlir::Value)> isFollowed,
                       llvm::DenseSet<mlir::Value> &followed);

  onnx::GraphOp graph;
  std::string trainedParams, frozenParams;
  llvm::StringSet<> storedWeights;
  llvm::StringSet<> names;        ///< The initializers'.
  bool saysWhatIsTrained = false; ///< Whether the file does, of any of them.
  llvm::SmallVector<Needed> neededWeights;
  llvm::DenseSet<mlir::Operation *> neededConstants; ///< The same weights.
};

} // namespace gpuopt

#endif // GPUOPT_LIB_CONVERSION_ONNXTONN_INITIALIZERS_H
