//===- NodeOrder.cpp - The topological order of a graph's nodes -----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NodeOrder.h"

#include "Attributes.h"
#include "Subgraphs.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <queue>

using namespace mlir;
using namespace gpuopt::onnx;
using proto::GraphProto;
using proto::NodeProto;

namespace {
class NodeSorter {
public:
  NodeSorter(const std::vector<const NodeProto *> &nodes,
             const GraphProto &graph, const Reporter &reporter)
      : nodes(nodes), graph(graph), reporter(reporter), users(nodes.size()),
        numPending(nodes.size()) {}

  LogicalResult collectDefinitions();
  LogicalResult collectUses();
  FailureOr<std::vector<const NodeProto *>> sort();

private:
  /// Stand for definitions of a value other than by the node of an index.
  static constexpr int kInput = -1, kInitializer = -2;

  LogicalResult define(const std::string &name, int definer);
  std::string describeDefiner(int definer) const;
  LogicalResult reportCycle(const std::vector<bool> &done) const;
  /// Returns the index of the node that defines an input of `node` and is not
  /// done; negative if there is none.
  int findPending(const NodeProto &node, const std::vector<bool> &done) const;

  const std::vector<const NodeProto *> &nodes;
  const GraphProto &graph;
  const Reporter &reporter;
  llvm::StringMap<int> definers;
  std::vector<std::vector<int>> users; // of each node, once per use
  std::vector<int> numPending;         // inputs of each node not yet defined
};
} // namespace

std::string NodeSorter::describeDefiner(int definer) const {
  if (definer == kInput)
    return "an input of the graph";
  if (definer == kInitializer)
    return "an initializer";
  return describe(*nodes[definer]);
}

LogicalResult NodeSorter::define(const std::string &name, int definer) {
  if (name.empty())
    return reporter.error() << describeDefiner(definer) << " has no name";
  auto [known, isNew] = definers.try_emplace(name, definer);
  if (isNew)
    return success();
  return reporter.error() << "value '" << name << "' is defined twice: by "
                          << describeDefiner(known->second) << " and by "
                          << describeDefiner(definer);
}

LogicalResult NodeSorter::collectDefinitions() {
  LogicalResult result = success();
  llvm::StringSet<> initializers;
  for (const auto &initializer : graph.initializer()) {
    initializers.insert(initializer.name());
    if (failed(define(initializer.name(), kInitializer)))
      result = failure();
  }
  for (const auto &input : graph.input()) // older files list initializers, too
    if (!initializers.contains(input.name()) &&
        failed(define(input.name(), kInput)))
      result = failure();
  for (auto [index, node] : llvm::enumerate(nodes))
    for (const std::string &output : node->output())
      if (!output.empty() && failed(define(output, index)))
        result = failure();
  return result;
}

LogicalResult NodeSorter::collectUses() {
  LogicalResult result = success();
  for (auto [index, node] : llvm::enumerate(nodes)) {
    for (const std::string &input : getReadNames(*node)) {
      auto definer = definers.find(input);
      if (definer == definers.end()) {
        result = reporter.error() << describe(*node) << " reads '" << input
                                  << "', which nothing defines";
      } else if (definer->second >= 0) {
        users[definer->second].push_back(index);
        ++numPending[index];
      }
    }
  }
  for (const auto &output : graph.output())
    if (!definers.count(output.name()))
      result = reporter.error() << "output '" << output.name()
                                << "' of the graph is defined by nothing";
  return result;
}

FailureOr<std::vector<const NodeProto *>> NodeSorter::sort() {
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (auto [index, pending] : llvm::enumerate(numPending))
    if (pending == 0)
      ready.push(index);
  std::vector<const NodeProto *> sorted;
  std::vector<bool> done(nodes.size());
  while (!ready.empty()) {
    int index = ready.top();
    ready.pop();
    sorted.push_back(nodes[index]);
    done[index] = true;
    for (int user : users[index])
      if (--numPending[user] == 0)
        ready.push(user);
  }
  if (sorted.size() != nodes.size())
    return reportCycle(done);
  return sorted;
}

int NodeSorter::findPending(const NodeProto &node,
                            const std::vector<bool> &done) const {
  for (const std::string &input : getReadNames(node))
    if (auto definer = definers.find(input); definer != definers.end() &&
                                             definer->second >= 0 &&
                                             !done[definer->second])
      return definer->second;
  llvm_unreachable("a node that is not done waits for another");
}

LogicalResult NodeSorter::reportCycle(const std::vector<bool> &done) const {
  // Every node that is not done waits for another one, so following these ends
  // in a cycle. It is reported in the direction of the data.
  std::vector<int> path{
      static_cast<int>(llvm::find(done, false) - done.begin())};
  std::vector<bool> onPath(nodes.size());
  while (!onPath[path.back()]) {
    onPath[path.back()] = true;
    path.push_back(findPending(*nodes[path.back()], done));
  }
  path.erase(path.begin(), llvm::find(path, path.back()));
  std::reverse(path.begin(), path.end());

  constexpr size_t kMaxNamed = 8;
  InFlightDiagnostic error = reporter.error();
  error << "has a cycle of " << path.size() - 1 << " nodes: ";
  for (auto [position, index] : llvm::enumerate(path)) {
    if (position == kMaxNamed) {
      error << " -> ...";
      break;
    }
    error << (position ? " -> " : "") << "'" << getNodeLabel(*nodes[index])
          << "'";
  }
  return error;
}

LogicalResult gpuopt::onnx::sortNodes(std::vector<const NodeProto *> &nodes,
                                      const GraphProto &graph,
                                      const Reporter &reporter) {
  NodeSorter sorter(nodes, graph, reporter);
  if (failed(sorter.collectDefinitions()) || failed(sorter.collectUses()))
    return failure();
  FailureOr<std::vector<const NodeProto *>> sorted = sorter.sort();
  if (failed(sorted))
    return failure();
  nodes = std::move(*sorted);
  return success();
}
