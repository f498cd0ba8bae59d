//===- DropOnDemand.cpp - Plans from what to drop -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DropOnDemand.h"

#include <algorithm>

using namespace gpuopt::planning;

namespace {
/// Runs the stages, and repeats what is missing.
class OnDemand {
public:
  explicit OnDemand(const Graph &graph)
      : graph(graph), isAvailable(graph.size(), false) {}

  void drop(int op) {
    if (graph.recomputable[op])
      isAvailable[op] = false;
  }

  /// Runs op `stage`, after everything that it needs. `ran` gets the repeats.
  void run(int stage) {
    ran.clear();
    demandInputs(stage);
    for (size_t i = 0; i < ran.size(); ++i) {
      demandInputs(ran[i]);
      repeats.push_back({stage, ran[i]});
    }
    isAvailable[stage] = true;
    forgetOverwritten(stage);
    for (int op : ran)
      forgetOverwritten(op);
  }

  std::vector<char> &available() { return isAvailable; }
  const std::vector<int> &lastRan() const { return ran; }

  /// Where ops repeat this often, the plan is of no use.
  bool isHopeless() const { return repeats.size() > 40 * isAvailable.size(); }

  std::vector<Slot> repeats;

private:
  void forgetOverwritten(int op) {
    if (graph.overwritten[op] >= 0)
      isAvailable[graph.overwritten[op]] = false;
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
};
} // namespace

std::vector<Slot> gpuopt::planning::dropByCut(const Graph &graph,
                                              const TimeExpandedCut &cut) {
  OnDemand state(graph);
  size_t moment = 0;
  for (int stage = 0; stage < graph.size(); ++stage) {
    bool isMoment =
        moment < cut.moments().size() && cut.moments()[moment] == stage;
    if (isMoment) {
      IntRange reads = graph.inputs(stage);
      for (int op = 0; op < stage; ++op)
        if (state.available()[op] && !cut.isResident(op, moment) &&
            std::find(reads.begin(), reads.end(), op) == reads.end())
          state.drop(op);
    }
    state.run(stage);
    if (isMoment) {
      for (int op : graph.inputs(stage))
        if (!cut.isResident(op, moment))
          state.drop(op);
      ++moment;
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
