//===- Segments.h - The graph between its narrow cuts -----------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order turns where most bytes wait for later ops: the ops before make
// outputs that the ops after it read, by and large last made first. The ops
// before the turn fall into segments, at places that few outputs cross; the ops
// after it into one stretch for each segment, after which nothing of that
// segment is read.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTS_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_SEGMENTS_H

#include "Graph.h"

namespace gpuopt::planning {

class Segments {
public:
  /// At most so many segments.
  Segments(const Graph &graph, int most);

  int size() const { return int(bounds.size()) - 1; }
  int turn() const { return bounds.back(); }

  /// Segment s is made of the ops [begin(s), begin(s + 1)).
  int begin(int segment) const { return bounds[segment]; }

  /// The stretch of segment s is [stretch(s + 1), stretch(s)), for the last
  /// segments come first.
  int stretch(int segment) const { return stretches[segment]; }

  /// The outputs that are made before segment s, may be dropped, and are read
  /// in it or later segments.
  const std::vector<int> &crossing(int segment) const {
    return crossings[segment];
  }

  /// The last op before the turn that reads the storage of this output; the op
  /// itself where none does.
  int lastForwardUser(int op) const { return lastForward[graph.holder[op]]; }

  /// Whether the output may be dropped at the turn, and made again.
  bool mayDrop(int op) const { return op < turn() && !isFixed[op]; }
  /// Whether the op makes bytes that may be.
  bool makesDroppable(int op) const {
    return graph.holder[op] == op && mayDrop(op);
  }

  /// What is alive within an op after the turn whatever is dropped: what is
  /// made after the turn, what cannot return, and the workspace.
  int64_t fixedBytes(int op) const { return fixed[op - turn()]; }
  /// The same between two ops, before `op`.
  int64_t fixedBytesBefore(int op) const { return fixedBefore[op - turn()]; }

private:
  void findTurn();
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
