//===- NestedPlans.h - Plans by a program over narrow cuts ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Between narrow cuts the ops before the turning point form a chain of
// segments. A dynamic program over (first segment, last segment, bytes) finds
// what is cheapest: to run the first segments with some outputs kept for their
// stretches, or with nothing kept but what crosses the next cut, and all again
// later. So segments run any number of times, nested (Griewank and Walther,
// Algorithm 799, 2000; Kusumoto et al., NeurIPS 2019). One program has the
// plans for all budgets. Bytes are rounded and peaks estimated, so the exact
// simulator has to judge them.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_NESTEDPLANS_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_NESTEDPLANS_H

#include "Recompute/Nested/SegmentModes.h"
#include "Recompute/Search/DropOnDemand.h"

namespace gpuopt::planning {

class NestedPlans {
public:
  /// Makes plans for budgets up to twice this one.
  NestedPlans(const Graph &graph, int64_t budgetInBytes);

  /// Returns the number of plans. The first is the cheapest and needs the most
  /// bytes.
  int size() const { return levels.size(); }
  std::vector<Slot> plan(int index) const;

private:
  /// How segments [first, last) run with this many bytes: first [first, next),
  /// in this mode; mode -1 keeps nothing.
  struct Choice {
    int16_t next = 0, mode = -1;
  };
  /// The results for the segments [first, last).
  struct Range {
    std::vector<SegmentMode> modes;
    int64_t runPeak = 0;       ///< If only what crosses its end is kept.
    int64_t crossingBytes = 0; ///< Outputs that later ops read.
    std::vector<float> costs;  ///< Cost at each level.
    std::vector<Choice> choices;
  };
  void measureRuns();
  void solve(int first, int last);
  void tryModes(int first, int last, int fixed);
  void tryRuns(int first, int last, int fixed);
  void walk(int first, int last, int level, std::vector<int> &held,
            std::vector<KeptFrom> &drops) const;
  void hold(int first, int next, int mode, std::vector<int> &held) const;
  /// Returns the level of a number of bytes; at most one above all levels.
  int levelOf(int64_t bytes) const;
  Range &at(int first, int last) {
    return ranges[first * (segments.size() + 1) + last];
  }
  const Range &at(int first, int last) const {
    return ranges[first * (segments.size() + 1) + last];
  }

  const Graph &graph;
  Segments segments;
  SegmentModes modes;
  int64_t unit = 1;            ///< Bytes per level.
  std::vector<double> runCost; ///< Sums over all segments before.
  std::vector<Range> ranges;
  std::vector<int> levels; ///< Levels at which the cost changes.
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_NESTEDPLANS_H
