//===- SegmentModes.cpp - Ways to run segments of a graph -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Nested/SegmentModes.h"
#include "PortableMath.h"
#include "Recompute/Bound/TimeExpandedCut.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

/// Prices range from all of the cost for all of the bytes, over this many
/// halvings and doublings.
static constexpr int halvings = 6, pricesPerHalving = 1;

SegmentModes::SegmentModes(const Graph &graph, const Segments &segments)
    : graph(graph), segments(segments) {
  kept.assign(2, std::vector<char>(graph.size(), true));
  kept[1].assign(graph.size(), false);
  addCuts();
  for (std::vector<char> &ops : kept) // a view with what it shows
    for (int op = 0; op < segments.turningPoint(); ++op)
      ops[op] = ops[graph.holder[op]];
}

void SegmentModes::addCuts() {
  int64_t bytes = 1;
  for (int64_t made : graph.bytes)
    bytes += made;
  IntegerScale scale(graph.totalCost, bytes);
  TimeExpandedCut cut(graph, {segments.turningPoint()}, bytes, scale);
  double one = std::ldexp(graph.totalCost, scale.costShift + scale.priceShift) /
               double(bytes);
  for (int i = -halvings * pricesPerHalving; i <= halvings * pricesPerHalving;
       ++i) {
    double price = one * portableExp(logOfTwo * i / pricesPerHalving);
    cut.solve({int64_t(std::clamp(price, 1., 0x1p60))});
    cut.readCut(/*preferResident=*/true);
    std::vector<char> ops(graph.size(), false);
    for (int op = 0; op < segments.turningPoint(); ++op)
      ops[op] = cut.isResident(op, 0);
    if (std::find(kept.begin(), kept.end(), ops) == kept.end())
      kept.push_back(std::move(ops));
  }
}

void SegmentModes::measureForward(int mode, int first, int last,
                                  SegmentMode &way) const {
  int begin = segments.begin(first), end = segments.begin(last);
  std::vector<int64_t> freed(end - begin, 0);
  int64_t live = 0;
  for (int op = begin; op < end; ++op) {
    if (segments.makesDroppable(op)) {
      live += graph.heldBytes[op];
      int user = segments.lastForwardUser(op);
      if (isHeld(mode, op, end))
        way.heldBytes += graph.heldBytes[op];
      else
        freed[user - begin] += graph.heldBytes[op];
    }
    way.forwardPeak = std::max(way.forwardPeak, live + graph.workspace[op]);
    live -= freed[op - begin];
  }
}

/// The ops that are computed again in the stretches of some segments, at the
/// first op that needs it.
struct SegmentModes::Again {
  int begin, end;
  std::vector<int> madeAt, lastReadAt; ///< -1: never.
  std::vector<int> demanded;
  double cost = 0;

  Again(int begin, int end)
      : begin(begin), end(end), madeAt(end - begin, -1),
        lastReadAt(end - begin, -1) {}

  template <typename IsThere>
  void read(int op, int stage, const IsThere &isThere) {
    if (op < begin || op >= end)
      return;
    lastReadAt[op - begin] = stage;
    if (madeAt[op - begin] >= 0)
      return;
    madeAt[op - begin] = isThere(op) ? 0 : stage;
    if (!isThere(op))
      demanded.push_back(op);
  }
};

void SegmentModes::measureBackward(int mode, int first, int last,
                                   SegmentMode &way) const {
  int from = segments.stretch(last), length = segments.stretch(first) - from;
  Again again(segments.begin(first), segments.begin(last));
  std::vector<int64_t> change(length + 1, 0), passing(length, 0);
  auto isThere = [&](int op) {
    return !segments.mayDrop(op) || isHeld(mode, op, again.end);
  };
  auto readInputs = [&](int op, int stage) {
    for (int input : graph.inputs(op)) {
      again.read(input, stage, isThere);
      again.read(graph.holder[input], stage, isThere);
    }
  };
  for (int stage = 0; stage < length; ++stage) {
    readInputs(from + stage, stage);
    while (!again.demanded.empty()) {
      int op = again.demanded.back();
      again.demanded.pop_back();
      way.cost += graph.cost[op];
      passing[stage] = std::max(passing[stage], graph.repeatWorkspace[op]);
      readInputs(op, stage);
    }
  }
  for (int op = again.begin; op < again.end && length > 0; ++op) {
    int64_t bytes = graph.heldBytes[op];
    int made = again.madeAt[op - again.begin];
    int end = std::max(0, again.lastReadAt[op - again.begin]);
    if (!segments.makesDroppable(op) ||
        (made < 0 && !isHeld(mode, op, again.end)))
      continue;
    if (made == end && !isHeld(mode, op, again.end)) {
      // What is made and dropped in one stage needs memory for an op and its
      // input at a time.
      passing[made] = std::max(passing[made], 2 * bytes);
      continue;
    }
    change[std::max(0, made)] += bytes;
    change[end + 1] -= bytes;
  }
  int64_t live = 0;
  for (int stage = 0; stage < length; ++stage) {
    live += change[stage];
    way.backwardPeak =
        std::max(way.backwardPeak,
                 live + passing[stage] + segments.fixedBytes(from + stage));
  }
}

SegmentMode SegmentModes::measure(int mode, int first, int last) const {
  SegmentMode way;
  measureForward(mode, first, last, way);
  measureBackward(mode, first, last, way);
  return way;
}
