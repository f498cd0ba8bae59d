//===- GraphImporter.h - Builds the onnx.graph ----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
#define GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H

#include "Dimensions.h"
#include "Functions.h"
#include "Tensors.h"

#include "gpuopt/Dialect/Onnx/IR/OnnxOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringMap.h"

namespace gpuopt::onnx {

class GraphImporter {
public:
  GraphImporter(const ModelFile &file, Dimensions &dimensions,
                const Reporter &reporter)
      : graph(file.getModel().graph()), dimensions(dimensions),
        reporter(reporter), tensors(file, reporter),
        builder(&reporter.getContext()) {}

  /// Appends the graph to `module`, with `nodes`, which are in topological
  /// order and read and define values correctly.
  mlir::LogicalResult run(const std::vector<const proto::NodeProto *> &nodes,
                          const Opsets &opsets, mlir::ModuleOp module);

private:
  void collectValueInfo();
  mlir::Type getType(const std::string &name) const;
  mlir::LogicalResult createGraph(const Opsets &opsets);
  mlir::LogicalResult importInitializers();
  mlir::LogicalResult setTied(InitializerOp op, llvm::StringRef json);
  mlir::LogicalResult importNode(const proto::NodeProto &node);
  void createReturn();

  /// The value of that name; `onnx.none` for the empty one.
  mlir::Value getValue(const std::string &name);

  const proto::GraphProto &graph;
  Dimensions &dimensions;
  const Reporter &reporter;
  TensorImporter tensors;
  mlir::OpBuilder builder;

  GraphInputs inputs;
  GraphOp graphOp;
  llvm::StringMap<const proto::TypeProto *> types; // that the file claims
  llvm::StringMap<bool> trained; ///< Whether an initializer is a parameter.
  llvm::StringMap<std::string>
      tied; ///< Its other names in the module, as JSON.
  llvm::StringMap<mlir::Value> values;
  mlir::Value none;
};

/// The graph's inputs: older files list its initializers among them, too.
GraphInputs collectInputs(const proto::GraphProto &graph);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_GRAPHIMPORTER_H
