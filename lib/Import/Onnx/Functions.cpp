//===- Functions.cpp - Functions that a model defines itself --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A call is replaced by copies of the function's nodes, in which
//
// - the function's inputs and outputs are those of the call (an output that the
//   call omits is a value that nothing reads),
// - values of the function's own get the name "CALL/VALUE", made unique,
// - nodes get the name "CALL/NODE",
// - attributes that refer to the function's take the call's value, or else the
//   default, or else disappear.
//
//===----------------------------------------------------------------------===//

#include "Functions.h"

#include "Attributes.h"
#include "Subgraphs.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <tuple>

using namespace mlir;
using namespace gpuopt::onnx;
using proto::AttributeProto;
using proto::FunctionProto;
using proto::ModelProto;
using proto::NodeProto;

/// Limits for inlining. Calls within calls grow without bound with the depth of
/// nesting, so a file that needs more nodes or bytes than these is an attack
/// and no model.
static constexpr size_t kMaxInlinedNodes = 1 << 18;
static constexpr size_t kMaxInlinedBytes = 1 << 30;
/// The inliner calls itself for each level of calls, so that deeper ones could
/// exhaust its stack.
static constexpr size_t kMaxCallDepth = 512;

std::string gpuopt::onnx::getDomainName(const std::string &domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

Opsets gpuopt::onnx::collectOpsets(
    const google::protobuf::RepeatedPtrField<proto::OperatorSetIdProto>
        &imports) {
  Opsets opsets;
  for (const proto::OperatorSetIdProto &import : imports) {
    auto [known, isNew] =
        opsets.try_emplace(getDomainName(import.domain()), import.version());
    known->second = std::max(known->second, import.version());
  }
  return opsets;
}

namespace {
/// Domain, name and overload.
using FunctionKey = std::tuple<std::string, std::string, std::string>;

template <class Proto>
FunctionKey getKey(const Proto &proto, const std::string &name) {
  return {getDomainName(proto.domain()), name, proto.overload()};
}

class FunctionInliner {
public:
  FunctionInliner(const ModelProto &model, Opsets &opsets,
                  const Reporter &reporter)
      : model(model), opsets(opsets), reporter(reporter) {}

  FailureOr<NodeList> run();

private:
  using Names = std::map<std::string, std::string>;

  LogicalResult append(const NodeProto &node);
  LogicalResult inlineCall(const NodeProto &call,
                           const FunctionProto &function);
  /// Counts a node that a call has become; fails if there are too many.
  LogicalResult countNode(const NodeProto &node);
  LogicalResult checkCall(const NodeProto &call, const FunctionProto &function);
  /// Returns the names that the function's inputs and outputs have around the
  /// call.
  Names bindValues(const NodeProto &call, const FunctionProto &function,
                   std::vector<NodeProto> &copies);
  NodeProto instantiate(const NodeProto &node, const NodeProto &call,
                        const FunctionProto &function, Names &names);
  /// Returns a node whose graphs call no functions, in which calls have become
  /// the functions' nodes.
  FailureOr<NodeProto> inlineInGraphs(const NodeProto &node);
  bool callsInGraphs(const NodeProto &node) const;
  LogicalResult importDomain(const NodeProto &node,
                             const FunctionProto &function,
                             const Opsets &functionOpsets);
  std::string makeUnique(const std::string &name);

  const ModelProto &model;
  Opsets &opsets;
  const Reporter &reporter;
  std::map<FunctionKey, const FunctionProto *> functions;
  std::vector<FunctionKey> callStack;
  llvm::StringSet<> valueNames;
  llvm::StringMap<int> nextNumbers; ///< For names that are taken.
  size_t inlinedBytes = 0;
  NodeList list;
};
} // namespace

std::string FunctionInliner::makeUnique(const std::string &name) {
  std::string unique = name;
  int *next = nullptr;
  while (!valueNames.insert(unique).second) {
    if (!next) // most names are unique
      next = &nextNumbers.try_emplace(name, 1).first->second;
    unique = name + "_" + std::to_string((*next)++);
  }
  return unique;
}

LogicalResult FunctionInliner::countNode(const NodeProto &node) {
  inlinedBytes += node.ByteSizeLong();
  if (list.owned.size() <= kMaxInlinedNodes && inlinedBytes <= kMaxInlinedBytes)
    return success();
  return reporter.error() << "has functions that expand to "
                          << list.owned.size() << " nodes of " << inlinedBytes
                          << " bytes and more";
}

LogicalResult FunctionInliner::checkCall(const NodeProto &call,
                                         const FunctionProto &function) {
  if (call.input_size() > function.input_size() ||
      call.output_size() > function.output_size())
    return reporter.error()
           << describe(call) << " has " << call.input_size() << " inputs and "
           << call.output_size() << " outputs, but its function has "
           << function.input_size() << " and " << function.output_size();
  FunctionKey key = getKey(call, call.op_type());
  if (!llvm::is_contained(callStack, key)) {
    if (callStack.size() < kMaxCallDepth)
      return success();
    return reporter.error()
           << "expects functions that call each other at most " << kMaxCallDepth
           << " levels deep, but got more from function '"
           << std::get<1>(callStack.front()) << "' down to '" << call.op_type()
           << "': inline functions before the export";
  }
  InFlightDiagnostic error = reporter.error();
  error << "function '" << call.op_type() << "' calls itself:";
  for (const FunctionKey &caller :
       llvm::make_range(llvm::find(callStack, key), callStack.end()))
    error << " '" << std::get<1>(caller) << "' ->";
  return error << " '" << call.op_type() << "'";
}

FunctionInliner::Names
FunctionInliner::bindValues(const NodeProto &call,
                            const FunctionProto &function,
                            std::vector<NodeProto> &copies) {
  Names names{{"", ""}};
  for (int i = 0; i < function.input_size(); ++i)
    names[function.input(i)] = i < call.input_size() ? call.input(i) : "";
  for (int i = 0; i < function.output_size(); ++i) {
    const std::string &inner = function.output(i);
    std::string outer = i < call.output_size() ? call.output(i) : "";
    if (outer.empty())
      continue;
    auto [bound, isNew] = names.try_emplace(inner, outer);
    if (isNew)
      continue;
    // The function passes an input through, or has one value as two outputs.
    NodeProto &copy = copies.emplace_back();
    copy.set_name(getNodeLabel(call) + "/" + inner);
    copy.set_op_type("Identity");
    copy.add_input(bound->second);
    copy.add_output(outer);
  }
  return names;
}

static void resolveAttributes(const NodeProto &node, const NodeProto &call,
                              const FunctionProto &function, NodeProto &copy);

NodeProto FunctionInliner::instantiate(const NodeProto &node,
                                       const NodeProto &call,
                                       const FunctionProto &function,
                                       Names &names) {
  std::string prefix = getNodeLabel(call) + "/";
  auto rename = [&](const std::string &name) {
    auto [known, isNew] = names.try_emplace(name);
    if (isNew)
      known->second = makeUnique(prefix + name);
    return known->second;
  };
  NodeProto copy = node;
  copy.set_name(prefix + getNodeLabel(node));
  for (std::string &input : *copy.mutable_input())
    input = rename(input);
  for (std::string &output : *copy.mutable_output())
    output = rename(output);

  for (const std::string &name : getReadNames(node))
    rename(name); // what its graphs read, too
  copy.clear_attribute();
  resolveAttributes(node, call, function, copy);
  for (AttributeProto &attribute : *copy.mutable_attribute())
    if (attribute.type() == AttributeProto::GRAPH)
      renameValues(*attribute.mutable_g(), names, [&](const std::string &name) {
        return makeUnique(prefix + name);
      });
  return copy;
}

/// Gives `copy` the attributes of `node`, a node of a function, and those of
/// the nodes of its graphs: attributes that refer to the function's take the
/// call's value, or else the default, or else disappear.
static void resolveAttributes(const NodeProto &node, const NodeProto &call,
                              const FunctionProto &function, NodeProto &copy) {
  auto find = [](const auto &attributes,
                 const std::string &name) -> const AttributeProto * {
    auto found =
        llvm::find_if(attributes, [&](const AttributeProto &attribute) {
          return attribute.name() == name;
        });
    return found == attributes.end() ? nullptr : &*found;
  };
  for (const AttributeProto &attribute : node.attribute()) {
    const AttributeProto *value = &attribute;
    if (!attribute.ref_attr_name().empty()) {
      value = find(call.attribute(), attribute.ref_attr_name());
      if (!value)
        value = find(function.attribute_proto(), attribute.ref_attr_name());
    }
    if (!value)
      continue;
    AttributeProto *resolved = copy.add_attribute();
    *resolved = *value;
    resolved->set_name(attribute.name());
    if (value != &attribute || resolved->type() != AttributeProto::GRAPH)
      continue; // a graph of the call is no part of the function
    for (NodeProto &inner : *resolved->mutable_g()->mutable_node()) {
      NodeProto before = inner;
      inner.clear_attribute();
      resolveAttributes(before, call, function, inner);
    }
  }
}

LogicalResult FunctionInliner::importDomain(const NodeProto &node,
                                            const FunctionProto &function,
                                            const Opsets &functionOpsets) {
  std::string domain = getDomainName(node.domain());
  auto import = functionOpsets.find(domain);
  if (functions.count(getKey(node, node.op_type())) ||
      import == functionOpsets.end())
    return success();
  auto [known, isNew] = opsets.try_emplace(domain, import->second);
  if (isNew || known->second == import->second)
    return success();
  return reporter.error() << "function '" << function.name()
                          << "' is written for opset " << import->second
                          << " of domain '" << domain
                          << "', but the model imports opset " << known->second;
}

LogicalResult FunctionInliner::inlineCall(const NodeProto &call,
                                          const FunctionProto &function) {
  if (failed(checkCall(call, function)))
    return failure();
  callStack.push_back(getKey(call, call.op_type()));
  llvm::scope_exit leave([&] { callStack.pop_back(); });

  std::vector<NodeProto> copies;
  Names names = bindValues(call, function, copies);
  Opsets functionOpsets = collectOpsets(function.opset_import());
  for (const NodeProto &node : function.node()) {
    if (failed(importDomain(node, function, functionOpsets)))
      return failure();
    list.owned.push_back(instantiate(node, call, function, names));
    if (failed(countNode(list.owned.back())) ||
        failed(append(list.owned.back())))
      return failure();
  }
  for (NodeProto &copy : copies) {
    list.owned.push_back(std::move(copy));
    if (failed(countNode(list.owned.back())))
      return failure();
    list.nodes.push_back(&list.owned.back());
  }
  return success();
}

LogicalResult FunctionInliner::append(const NodeProto &node) {
  auto function = functions.find(getKey(node, node.op_type()));
  if (function != functions.end())
    return inlineCall(node, *function->second);
  if (!callsInGraphs(node)) {
    list.nodes.push_back(&node);
    return success();
  }
  FailureOr<NodeProto> inlined = inlineInGraphs(node);
  if (failed(inlined))
    return failure();
  list.owned.push_back(std::move(*inlined));
  list.nodes.push_back(&list.owned.back());
  return countNode(list.owned.back());
}

bool FunctionInliner::callsInGraphs(const NodeProto &node) const {
  return llvm::any_of(getSubgraphs(node), [&](const proto::GraphProto *graph) {
    return llvm::any_of(graph->node(), [&](const NodeProto &inner) {
      return functions.count(getKey(inner, inner.op_type())) ||
             callsInGraphs(inner);
    });
  });
}

FailureOr<NodeProto> FunctionInliner::inlineInGraphs(const NodeProto &node) {
  NodeProto copy = node;
  for (AttributeProto &attribute : *copy.mutable_attribute()) {
    if (attribute.type() != AttributeProto::GRAPH)
      continue;
    std::vector<const NodeProto *> around;
    std::swap(around, list.nodes);
    LogicalResult result = success();
    for (const NodeProto &inner : attribute.g().node())
      if (succeeded(result))
        result = append(inner);
    std::swap(around, list.nodes);
    if (failed(result))
      return failure();
    proto::GraphProto graph = attribute.g();
    graph.clear_node();
    for (const NodeProto *inner : around)
      *graph.add_node() = *inner;
    *attribute.mutable_g() = std::move(graph);
  }
  return copy;
}

FailureOr<NodeList> FunctionInliner::run() {
  for (const FunctionProto &function : model.functions())
    if (!functions.try_emplace(getKey(function, function.name()), &function)
             .second)
      return reporter.error()
             << "function '" << function.name() << "' of domain '"
             << getDomainName(function.domain()) << "' is defined twice";
  for (const auto &input : model.graph().input())
    valueNames.insert(input.name());
  for (const auto &initializer : model.graph().initializer())
    valueNames.insert(initializer.name());
  for (const NodeProto &node : model.graph().node())
    for (const std::string &output : node.output())
      valueNames.insert(output);
  for (const NodeProto &node : model.graph().node())
    if (failed(append(node)))
      return failure();
  return std::move(list);
}

FailureOr<NodeList> gpuopt::onnx::inlineFunctions(const ModelProto &model,
                                                  Opsets &opsets,
                                                  const Reporter &reporter) {
  return FunctionInliner(model, opsets, reporter).run();
}
