//===- NestedPlans.cpp - Plans by a program over narrow cuts --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Nested/NestedPlans.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

static constexpr int mostSegments = 64, mostLevel = 384;

/// The largest number of segments that run in one mode: a block may have
/// several narrow cuts.
static constexpr int mostJoined = 6;

NestedPlans::NestedPlans(const Graph &graph, int64_t budgetInBytes)
    : graph(graph), segments(graph, mostSegments), modes(graph, segments) {
  std::vector<int64_t> profile = graph.plainProfile();
  int64_t most = *std::max_element(profile.begin(), profile.end());
  if (budgetInBytes < most / 2)
    most = 2 * budgetInBytes;
  unit = std::max<int64_t>(1, most / mostLevel);
  int count = segments.size();
  ranges.resize((count + 1) * (count + 1));
  measureRuns();
  for (int length = 1; length <= count; ++length)
    for (int first = 0; first + length <= count; ++first)
      solve(first, first + length);
  const std::vector<float> &costs = at(0, count).costs;
  for (int level = mostLevel; level >= 0 && costs[level] < HUGE_VALF; --level)
    if (levels.empty() || costs[level] > costs[levels.back()])
      levels.push_back(level);
}

int NestedPlans::levelOf(int64_t bytes) const {
  return int(std::min<int64_t>((bytes + unit / 2) / unit, mostLevel + 1));
}

//===----------------------------------------------------------------------===//
// What segments take
//===----------------------------------------------------------------------===//

void NestedPlans::measureRuns() {
  int count = segments.size();
  runCost.assign(count + 1, 0);
  for (int s = 0; s < count; ++s) {
    runCost[s + 1] = runCost[s];
    for (int op = segments.begin(s); op < segments.begin(s + 1); ++op)
      runCost[s + 1] += graph.mayReturn(op) ? graph.cost[op] : 0;
  }
  for (int first = 0; first < count; ++first) {
    std::vector<int64_t> freed(segments.turningPoint() + 1, 0);
    int64_t live = 0, peak = 0;
    for (int last = first + 1; last <= count; ++last) {
      for (int op = segments.begin(last - 1); op < segments.begin(last); ++op) {
        if (segments.makesDroppable(op)) {
          live += graph.heldBytes[op];
          freed[segments.lastForwardUser(op)] += graph.heldBytes[op];
        }
        peak = std::max(peak, live + graph.workspace[op]);
        live -= freed[op];
      }
      Range &range = at(first, last);
      range.runPeak = peak;
      range.crossingBytes = live;
      for (int mode = 0; mode < modes.size() && last <= first + mostJoined;
           ++mode)
        range.modes.push_back(modes.measure(mode, first, last));
    }
  }
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

void NestedPlans::solve(int first, int last) {
  Range &range = at(first, last);
  range.costs.assign(mostLevel + 1, HUGE_VALF);
  range.choices.assign(mostLevel + 1, {});
  // Counts what is alive between the stretches while the segments run again.
  int fixed = levelOf(segments.fixedBytesBefore(segments.stretch(last)));
  tryModes(first, last, fixed);
  tryRuns(first, last, fixed);
}

/// Tries to run the first segments once, with some outputs kept.
void NestedPlans::tryModes(int first, int last, int fixed) {
  Range &range = at(first, last);
  for (int next = first + 1; next <= std::min(last, first + mostJoined);
       ++next) {
    double run = runCost[next] - runCost[first];
    for (int mode = 0; mode < modes.size(); ++mode) {
      const SegmentMode &way = at(first, next).modes[mode];
      int held = levelOf(way.heldBytes);
      int least = std::max(
          {held, fixed + levelOf(way.forwardPeak), levelOf(way.backwardPeak)});
      for (int level = least; level <= mostLevel; ++level) {
        float rest = next < last ? at(next, last).costs[level - held] : 0;
        float cost = float(run + way.cost) + rest;
        if (cost < range.costs[level]) {
          range.costs[level] = cost;
          range.choices[level] = {int16_t(next), int16_t(mode)};
        }
      }
    }
  }
}

/// Tries to run the first segments with nothing kept, and again when the others
/// are done.
void NestedPlans::tryRuns(int first, int last, int fixed) {
  Range &range = at(first, last);
  for (int next = first + 1; next < last; ++next) {
    const Range &again = at(first, next), &rest = at(next, last);
    float run = float(runCost[next] - runCost[first]);
    int held = levelOf(again.crossingBytes);
    for (int level = std::max(held, fixed + levelOf(again.runPeak));
         level <= mostLevel; ++level) {
      float cost = run + rest.costs[level - held] + again.costs[level];
      if (cost < range.costs[level]) {
        range.costs[level] = cost;
        range.choices[level] = {int16_t(next), -1};
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

/// Notes what segments [first, next) keep in this mode.
void NestedPlans::hold(int first, int next, int mode,
                       std::vector<int> &held) const {
  for (int op = segments.begin(first); op < segments.begin(next); ++op)
    if (mode >= 0 && modes.isKept(mode, op))
      held.push_back(op);
}

/// Notes what is kept from the beginning of each stretch on.
void NestedPlans::walk(int first, int last, int level, std::vector<int> &held,
                       std::vector<KeptFrom> &drops) const {
  while (true) {
    auto [next, mode] = at(first, last).choices[level];
    const Range &range = at(first, next);
    size_t before = held.size();
    hold(first, next, mode, held);
    if (next < last) {
      const std::vector<int> &crossing = segments.crossing(next);
      held.insert(held.end(), crossing.begin(), crossing.end());
      int64_t bytes =
          mode < 0 ? range.crossingBytes : range.modes[mode].heldBytes;
      walk(next, last, level - levelOf(bytes), held, drops);
    }
    if (mode < 0) {
      held.resize(before);
      last = next;
      continue;
    }
    int stage = segments.stretch(next);
    if (stage < segments.stretch(first)) {
      // The segments have run again, and only for this drop, if their stretch
      // asked for all of them before.
      bool hasRunAgain = next == last && last < segments.size();
      drops.push_back({stage, hasRunAgain, held});
    }
    held.resize(before);
    return;
  }
}

std::vector<Slot> NestedPlans::plan(int index) const {
  std::vector<int> held;
  for (int op = 0; op < segments.turningPoint(); ++op)
    if (!segments.mayDrop(op))
      held.push_back(op);
  std::vector<KeptFrom> drops;
  walk(0, segments.size(), levels[index], held, drops);
  return dropOthers(graph, segments.turningPoint(), drops);
}
