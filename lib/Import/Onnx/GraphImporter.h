//===- GraphImporter.h - Builds the onnx.graph ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "ConstantInputs.h"
#include "Dimensions.h"
#include "Functions.h"
#include "Tensors.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace gpuopt::onnx {

class GraphImporter {
public:
  GraphImporter(const ModelFile &file, GraphInputs inputs,
                ConstantInputs constants, Dimensions &dimensions,
                const Reporter &reporter)
      : graph(file.getModel().graph()), dimensions(dimensions),
        reporter(reporter), tensors(file, reporter),
        builder(&reporter.getContext()), inputs(std::move(inputs)),
        constants(std::move(constants)) {}

  /// Appends the graph to `module`. Expects `nodes` in topological order, with
  /// every value that they read defined.
  mlir::LogicalResult run(const std::vector<const proto::NodeProto *> &nodes,
                          const Opsets &opsets, mlir::ModuleOp module);

private:
  void collectNotes(const proto::ValueInfoProto &info);
  void collectValueInfo();
  mlir::Type getType(const std::string &name) const;
  mlir::LogicalResult createGraph(const Opsets &opsets);
  mlir::LogicalResult importInitializers();
  mlir::LogicalResult setTied(InitializerOp op, llvm::StringRef json);
  mlir::LogicalResult importNode(const proto::NodeProto &node);
  /// Fills the region of a node with the graph that is one of its attributes.
  mlir::LogicalResult importSubgraph(const proto::GraphProto &inner,
                                     llvm::StringRef where,
                                     mlir::Region &region);
  /// Imports the tensors of such a graph.
  mlir::LogicalResult importTensors(const proto::GraphProto &inner,
                                    llvm::StringRef where);
  void createReturn();

  /// Returns the value of a name; `onnx.none` for the empty name.
  mlir::Value getValue(const std::string &name);

  const proto::GraphProto &graph;
  Dimensions &dimensions;
  const Reporter &reporter;
  TensorImporter tensors;
  mlir::OpBuilder builder;

  GraphInputs inputs;
  ConstantInputs constants;
  GraphOp graphOp;
  llvm::StringMap<const proto::TypeProto *> types; // given by the file
  llvm::StringMap<bool> trained; ///< Whether an initializer is a parameter.
  llvm::StringMap<bool> constantInitializers; ///< Whether one is a constant.
  llvm::StringMap<std::string>
      tied; ///< An initializer's other names in the module, as JSON.
  llvm::StringSet<> stopping;           ///< Values that no gradient passes.
  llvm::StringMap<int64_t> paddingRows; ///< Of embeddings, by their values.
  llvm::StringMap<mlir::Value> values;
  mlir::Value none;
};

/// Returns the graph's inputs without its initializers, which older files list
/// among them.
GraphInputs collectInputs(const proto::GraphProto &graph);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
