//===- Segments.h - The graph between its narrow cuts -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The turning point of an order is where most bytes wait for later ops: the ops
// before it make outputs that the ops after it read, mostly in reverse order.
// The ops before the turning point are cut into segments, at places that few
// outputs cross. The ops after it are cut into stretches, one for each segment,
// after which nothing of that segment is read.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTS_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTS_H

#include "Recompute/Graph.h"

namespace gpuopt::planning {

class Segments {
public:
  /// Makes at most `most` segments.
  Segments(const Graph &graph, int most);

  int size() const { return int(bounds.size()) - 1; }
  int turningPoint() const { return bounds.back(); }

  /// Segment s has the ops [begin(s), begin(s + 1)).
  int begin(int segment) const { return bounds[segment]; }

  /// The stretch of segment s is [stretch(s + 1), stretch(s)), because the last
  /// segments come first.
  int stretch(int segment) const { return stretches[segment]; }

  /// Returns the outputs that are made before segment s, may be dropped, and
  /// are read in it or in later segments.
  const std::vector<int> &crossing(int segment) const {
    return crossings[segment];
  }

  /// Returns the last op before the turning point that reads the storage of
  /// this output, or the op itself.
  int lastForwardUser(int op) const { return lastForward[graph.holder[op]]; }

  /// Whether the output may be dropped at the turning point and computed again.
  bool mayDrop(int op) const { return op < turningPoint() && !isFixed[op]; }
  /// Whether the op makes a storage that may be dropped.
  bool makesDroppable(int op) const {
    return graph.holder[op] == op && mayDrop(op);
  }

  /// Returns the bytes that are alive within an op after the turning point
  /// whatever is dropped: what is made after the turning point, what cannot be
  /// recovered, and the workspace.
  int64_t fixedBytes(int op) const { return fixed[op - turningPoint()]; }
  /// Returns the same for the time just before `op`.
  int64_t fixedBytesBefore(int op) const {
    return fixedBefore[op - turningPoint()];
  }

private:
  void findTurningPoint();
  void chooseBounds(int most);
  void findStretches();
  void findReads();
  void findFixed();
  void findCrossings();
  void sumFixedBytes();

  const Graph &graph;
  std::vector<int> bounds, stretches, lastForward, firstRead, lastRead;
  std::vector<char> isFixed;
  std::vector<std::vector<int>> crossings;
  std::vector<int64_t> fixed, fixedBefore;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTS_H
