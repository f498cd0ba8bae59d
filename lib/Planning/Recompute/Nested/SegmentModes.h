//===- SegmentModes.h - Ways to run segments of a graph ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mode is a way to run consecutive segments and, later, their stretches: some
// of their outputs are kept in between, and the others are computed again in
// the stretches when they are read. The modes keep what minimum cuts with a
// single price keep at the turning point, at prices from low to high; one mode
// keeps everything, and one nothing.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTMODES_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTMODES_H

#include "Recompute/Nested/Segments.h"

namespace gpuopt::planning {

struct SegmentMode {
  double cost = 0;       ///< The stretches' repeats.
  int64_t heldBytes = 0; ///< Kept, or read by later segments.
  /// Most bytes alive while the segments run, of what they make; and in the
  /// stretches, with all that is fixed there. Where ops of one stage are made
  /// again, an estimate.
  int64_t forwardPeak = 0, backwardPeak = 0;
};

class SegmentModes {
public:
  SegmentModes(const Graph &graph, const Segments &segments);

  int size() const { return kept.size(); }
  bool isKept(int mode, int op) const { return kept[mode][op]; }

  /// Measures a mode on the segments [first, last).
  SegmentMode measure(int mode, int first, int last) const;

private:
  void addCuts();
  /// Whether an output is kept or crosses into the next segment. What another
  /// op overwrites is gone before the stretch.
  bool isHeld(int mode, int op, int end) const {
    return (kept[mode][op] || segments.lastForwardUser(op) >= end) &&
           graph.overwriter[op] < 0;
  }
  struct Again;
  void measureForward(int mode, int first, int last, SegmentMode &way) const;
  void measureBackward(int mode, int first, int last, SegmentMode &way) const;

  const Graph &graph;
  const Segments &segments;
  std::vector<std::vector<char>> kept; ///< By mode and op.
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTMODES_H
