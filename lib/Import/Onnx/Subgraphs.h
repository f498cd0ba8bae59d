//===- Subgraphs.h - Graphs inside of nodes ---------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The branches of an If and the bodies of loops are graphs, whose nodes may
// read values of the graphs around them.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_IMPORT_ONNX_SUBGRAPHS_H
#define GPUOPT_LIB_IMPORT_ONNX_SUBGRAPHS_H

#include "onnx.pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace gpuopt::onnx {

/// Returns the graphs among a node's attributes, in the order of the
/// attributes' names.
std::vector<const proto::GraphProto *>
getSubgraphs(const proto::NodeProto &node);

/// Returns the names of the values that a graph defines, without those of
/// graphs inside of its nodes.
std::vector<std::string> getDefinedNames(const proto::GraphProto &graph);

/// Returns the names of values that a node reads: its inputs, and what its
/// graphs read from the graphs around them. Omitted inputs are left out.
std::vector<std::string> getReadNames(const proto::NodeProto &node);

/// Renames the values of a graph inside of a node: those of the graphs around
/// it as `names` has them, which `makeName` extends, and its own ones by
/// `makeName`.
void renameValues(
    proto::GraphProto &graph, std::map<std::string, std::string> names,
    llvm::function_ref<std::string(const std::string &)> makeName);

} // namespace gpuopt::onnx

#endif // GPUOPT_LIB_IMPORT_ONNX_SUBGRAPHS_H
