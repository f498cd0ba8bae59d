//===- DropOnDemand.cpp - Plans from what to drop -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Search/DropOnDemand.h"

#include <algorithm>

using namespace gpuopt::planning;

namespace {
/// Runs the stages one after the other, and repeats what is missing.
class OnDemand {
public:
  explicit OnDemand(const Graph &graph)
      : graph(graph), isAvailable(graph.size(), false) {
    size_t size = std::max(1, graph.size());
    mostRepeats = size * std::clamp<size_t>(100'000 / size, 4, 40);
  }

  void drop(int op) {
    if (graph.mayReturn(op))
      isAvailable[op] = false;
  }

  /// Runs op `stage` after everything that it needs. The repeats are appended
  /// to `ran`.
  void run(int stage) {
    ran.clear();
    demandInputs(stage);
    for (size_t i = 0; i < ran.size(); ++i) {
      Slot slot{stage, ran[i], isCheaperReloaded(ran[i])};
      if (!slot.isReload)
        demandInputs(ran[i]);
      repeats.push_back(slot);
    }
    isAvailable[stage] = true;
    forgetOverwritten(stage);
    for (size_t i = repeats.size() - ran.size(); i < repeats.size(); ++i)
      if (!repeats[i].isReload)
        forgetOverwritten(repeats[i].op);
  }

  std::vector<char> &available() { return isAvailable; }
  const std::vector<int> &lastRan() const { return ran; }

  /// Whether ops repeat so often that the plan is of no use. In large graphs
  /// that takes fewer repeats of each op, since it takes long to try such
  /// plans.
  bool isHopeless() const { return repeats.size() > mostRepeats; }

  std::vector<Slot> repeats;

private:
  void forgetOverwritten(int op) {
    if (graph.overwritten[op] >= 0)
      isAvailable[graph.overwritten[op]] = false;
  }

  /// Whether reloading is cheaper than executing the op again, with everything
  /// that this needs.
  bool isCheaperReloaded(int op) const {
    if (!graph.mayReload(op) || !graph.recomputable[op])
      return graph.mayReload(op);
    constexpr size_t mostNeeded = 256;
    std::vector<int> needed{op};
    double cost = graph.cost[op], limit = graph.offloadCost[op];
    for (size_t i = 0; i < needed.size() && cost < limit; ++i) {
      if (needed.size() > mostNeeded)
        return true;
      for (int input : graph.inputs(needed[i])) {
        bool isThere =
            isAvailable[input] ||
            std::find(needed.begin(), needed.end(), input) != needed.end();
        if (isThere)
          continue;
        needed.push_back(input);
        cost += std::min(graph.cost[input], graph.offloadCost[input]);
      }
    }
    return cost >= limit;
  }

  void demandInputs(int op) {
    for (int input : graph.inputs(op))
      if (!isAvailable[input]) {
        isAvailable[input] = true;
        ran.push_back(input);
      }
  }

  const Graph &graph;
  std::vector<char> isAvailable;
  std::vector<int> ran;
  size_t mostRepeats;
};
} // namespace

std::vector<Slot> gpuopt::planning::dropByCut(const Graph &graph,
                                              const TimeExpandedCut &cut) {
  OnDemand state(graph);
  size_t timePoint = 0;
  for (int stage = 0; stage < graph.size(); ++stage) {
    bool isTimePoint = timePoint < cut.timePoints().size() &&
                       cut.timePoints()[timePoint] == stage;
    if (isTimePoint) {
      IntRange reads = graph.inputs(stage);
      for (int op = 0; op < stage; ++op)
        if (state.available()[op] && !cut.isResident(op, timePoint) &&
            std::find(reads.begin(), reads.end(), op) == reads.end())
          state.drop(op);
    }
    state.run(stage);
    if (isTimePoint) {
      for (int op : graph.inputs(stage))
        if (!cut.isResident(op, timePoint))
          state.drop(op);
      ++timePoint;
    }
    if (state.isHopeless())
      return {};
  }
  return std::move(state.repeats);
}

std::vector<Slot>
gpuopt::planning::dropByGap(const Graph &graph,
                            const std::vector<char> &isFlagged, int gap) {
  OnDemand state(graph);
  auto dropIfIdle = [&](int op, int stage) {
    IntRange users = graph.users(op);
    const int *next = std::upper_bound(users.begin(), users.end(), stage);
    int use = next != users.end() ? *next
              : graph.pinned[op]  ? graph.size() - 1
                                  : stage;
    if (isFlagged[op] && use - stage > gap)
      state.drop(op);
  };
  for (int stage = 0; stage < graph.size(); ++stage) {
    state.run(stage);
    for (int op : state.lastRan()) {
      for (int input : graph.inputs(op))
        dropIfIdle(input, stage);
      dropIfIdle(op, stage);
    }
    for (int input : graph.inputs(stage))
      dropIfIdle(input, stage);
    dropIfIdle(stage, stage);
    if (state.isHopeless())
      return {};
  }
  return std::move(state.repeats);
}

std::vector<Slot>
gpuopt::planning::dropOthers(const Graph &graph, int turningPoint,
                             const std::vector<KeptFrom> &drops) {
  OnDemand state(graph);
  std::vector<char> isKept;
  auto drop = [&](const KeptFrom &keeping) {
    isKept.assign(turningPoint, false);
    for (int op : keeping.ops)
      isKept[op] = true;
    for (int op = 0; op < turningPoint; ++op)
      if (!isKept[op] && !isKept[graph.holder[op]])
        state.drop(op);
  };
  auto next = drops.begin();
  for (int stage = 0; stage < graph.size(); ++stage) {
    bool isDrop = next != drops.end() && next->stage == stage;
    if (isDrop)
      drop(*next);
    state.run(stage);
    if (isDrop && next->dropsDemanded)
      drop(*next);
    next += isDrop;
    if (state.isHopeless())
      return {};
  }
  return std::move(state.repeats);
}
