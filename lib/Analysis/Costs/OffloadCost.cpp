//===- OffloadCost.cpp - What it costs to offload tensors -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Analysis/Costs/OffloadCost.h"

#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"

using namespace mlir;
using namespace gpuopt;

double gpuopt::transferInNanoseconds(int64_t sizeInBytes,
                                     const DeviceModel &device) {
  return 1e9 * (device.secondsPerLaunch +
                double(sizeInBytes) / device.hostLinkBytesPerSecond);
}

//===----------------------------------------------------------------------===//
// Costs for the solver
//===----------------------------------------------------------------------===//

static bool isPartOfConcat(Value value) {
  return llvm::any_of(readersOf(value), llvm::IsaPred<nn::ConcatOp>);
}

namespace {

class Candidates {
public:
  explicit Candidates(StepGraph &graph)
      : graph(graph), lastReader(graph.nodes.size(), -1),
        isShared(graph.nodes.size(), false) {
    for (auto [index, op] : llvm::enumerate(graph.problem.ops)) {
      if (op.storage >= 0)
        isShared[op.storage] = true;
      for (int input : op.inputs)
        lastReader[input] = index;
    }
    auto isLoss = [](const StepGraph::Node &node) {
      auto loss = dyn_cast<train::ReportLossOp>(node.op);
      return loss && !loss.getPart();
    };
    loss = llvm::find_if(graph.nodes, isLoss) - graph.nodes.begin();
  }

  /// Whether a node is a tensor of the forward that the backward reads, and
  /// whose memory nothing overwrites before its last use.
  bool contains(int node) const {
    Value value = graph.nodes[node].value;
    const planning::RecomputeOp &op = graph.problem.ops[node];
    return value && node < loss && lastReader[node] > loss && !isShared[node] &&
           (op.storage < 0 || op.overwrites) && sizeInBytes(value) > 0 &&
           !isPartOfConcat(value);
  }

  int loss;

private:
  StepGraph &graph;
  std::vector<int> lastReader;
  std::vector<char> isShared;
};

} // namespace

void gpuopt::addOffloadCosts(StepGraph &graph, const DeviceModel &device) {
  Candidates candidates(graph);
  double forward = 0, backward = 0, all = 0;
  const Operation *last = nullptr;
  for (auto [index, node] : llvm::enumerate(graph.nodes)) {
    if (node.op != last)
      (int(index) < candidates.loss ? forward : backward) +=
          timeInNanoseconds(node.op, device);
    last = node.op;
    if (candidates.contains(index))
      all += transferInNanoseconds(sizeInBytes(node.value), device);
  }
  if (all == 0)
    return;
  bool overlaps = device.overlapsTransfers;
  double hiddenOut = overlaps ? std::min(1., forward / all) : 0,
         hiddenBack = overlaps ? std::min(1., backward / all) : 0;
  // A transfer that overlaps with work is not free either: the step waits for
  // two events, which are counted as one launch.
  double events = overlaps ? 1e9 * device.secondsPerLaunch : 0;
  for (auto [index, node] : llvm::enumerate(graph.nodes))
    if (candidates.contains(index))
      graph.problem.ops[index].offloadCost =
          events + transferInNanoseconds(sizeInBytes(node.value), device) *
                       (2 - hiddenOut - hiddenBack);
}

//===----------------------------------------------------------------------===//
// Times of a step
//===----------------------------------------------------------------------===//

TransferTimes gpuopt::timeTransfers(train::StepOp step,
                                    const DeviceModel &device) {
  TransferTimes times;
  double work = 0, link = 0; // when each has finished
  llvm::DenseMap<Value, double> arrival;
  auto transfer = [&](Value value, Value result) {
    double time = transferInNanoseconds(sizeInBytes(value), device);
    times.sizeInBytes += sizeInBytes(value);
    times.busyInNanoseconds += time;
    link = arrival[result] = std::max(link, work) + time;
    if (!device.overlapsTransfers) {
      times.waitedInNanoseconds += link - work;
      work = link;
    }
  };
  auto await = [&](Value result) {
    double waited = std::max(0., arrival.lookup(result) - work);
    times.waitedInNanoseconds += waited;
    work += waited;
  };
  for (Operation &op : step.getBody().front()) {
    if (auto offload = dyn_cast<train::OffloadOp>(op))
      transfer(offload.getValue(), offload.getCopy());
    else if (auto reload = dyn_cast<train::ReloadOp>(op))
      transfer(reload.getResult(), reload.getResult());
    else if (auto awaited = dyn_cast<train::AwaitOffloadOp>(op))
      await(awaited.getCopy());
    else if (auto awaited = dyn_cast<train::AwaitReloadOp>(op))
      await(awaited.getValue());
    else
      work += timeInNanoseconds(&op, device);
  }
  return times;
}
