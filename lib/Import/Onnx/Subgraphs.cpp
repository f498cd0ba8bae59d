//===- Subgraphs.cpp - Graphs inside of nodes -----------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Subgraphs.h"

#include "llvm/ADT/STLExtras.h"

#include <set>

using namespace gpuopt::onnx;
using proto::AttributeProto;
using proto::GraphProto;
using proto::NodeProto;

std::vector<const GraphProto *>
gpuopt::onnx::getSubgraphs(const NodeProto &node) {
  std::map<std::string, const GraphProto *> byName;
  for (const AttributeProto &attribute : node.attribute())
    if (attribute.type() == AttributeProto::GRAPH)
      byName.emplace(attribute.name(), &attribute.g());
  std::vector<const GraphProto *> graphs;
  for (const auto &entry : byName)
    graphs.push_back(entry.second);
  return graphs;
}

std::vector<std::string>
gpuopt::onnx::getDefinedNames(const GraphProto &graph) {
  std::vector<std::string> names;
  for (const auto &input : graph.input())
    names.push_back(input.name());
  for (const auto &initializer : graph.initializer())
    names.push_back(initializer.name());
  for (const NodeProto &node : graph.node())
    for (const std::string &output : node.output())
      if (!output.empty())
        names.push_back(output);
  return names;
}

std::vector<std::string> gpuopt::onnx::getReadNames(const NodeProto &node) {
  std::vector<std::string> names;
  for (const std::string &input : node.input())
    if (!input.empty())
      names.push_back(input);
  for (const GraphProto *graph : getSubgraphs(node)) {
    std::vector<std::string> defined = getDefinedNames(*graph);
    std::set<std::string> own(defined.begin(), defined.end());
    auto add = [&](const std::string &name) {
      if (!own.count(name))
        names.push_back(name);
    };
    for (const NodeProto &inner : graph->node())
      llvm::for_each(getReadNames(inner), add);
    for (const auto &output : graph->output())
      add(output.name());
  }
  return names;
}

void gpuopt::onnx::renameValues(
    GraphProto &graph, std::map<std::string, std::string> names,
    llvm::function_ref<std::string(const std::string &)> makeName) {
  names[""] = "";
  for (const std::string &name : getDefinedNames(graph))
    names[name] = makeName(name);
  auto rename = [&](std::string &name) {
    if (auto known = names.find(name); known != names.end())
      name = known->second;
  };
  for (auto *values : {graph.mutable_input(), graph.mutable_output(),
                       graph.mutable_value_info()})
    for (auto &value : *values)
      rename(*value.mutable_name());
  for (auto &initializer : *graph.mutable_initializer())
    rename(*initializer.mutable_name());
  for (NodeProto &node : *graph.mutable_node()) {
    for (auto *list : {node.mutable_input(), node.mutable_output()})
      for (std::string &name : *list)
        rename(name);
    for (AttributeProto &attribute : *node.mutable_attribute())
      if (attribute.type() == AttributeProto::GRAPH)
        renameValues(*attribute.mutable_g(), names, makeName);
  }
}
