//===- NodeOrder.h - The topological order of a graph's nodes -------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_NODEORDER_H
#define GPUOPT_LIB_IMPORT_ONNX_NODEORDER_H

#include "Functions.h"

namespace gpuopt::onnx {

/// Checks that each value is defined exactly once, that inputs of nodes and
/// outputs of the graph are defined, and sorts the nodes such that definitions
/// come before uses. Among the nodes that could come next, the first one in the
/// file is taken, so that an order that is topological already does not change.
mlir::LogicalResult sortNodes(std::vector<const proto::NodeProto *> &nodes,
                              const proto::GraphProto &graph,
                              const Reporter &reporter);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_NODEORDER_H
