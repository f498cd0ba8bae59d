//===- MaxFlow.h - Maximum flow and minimum cut -----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_MAXFLOW_H
#define GPUOPT_LIB_PLANNING_MAXFLOW_H

#include <cstdint>
#include <vector>

namespace gpuopt::planning {

/// A capacity that no sum of costs reaches.
constexpr int64_t infiniteCapacity = int64_t(1) << 60;

/// A network and its maximum flow by Dinic's algorithm (1970), with distances
/// measured from the sink and paths pushed by an iterative search. It is exact,
/// in integers. The networks of the planners need few phases.
class MaxFlow {
public:
  /// Arcs are added first; `finish` lays them out.
  explicit MaxFlow(int nodes) : nodes(nodes) {}
  int addArc(int from, int to, int64_t capacity);
  void finish(int source, int sink);

  /// Replaces a capacity. The next `solve` starts from no flow.
  void setCapacity(int arc, int64_t capacity) { arcs[arc].capacity = capacity; }

  /// Returns the value of a maximum flow.
  int64_t solve();

  int64_t flow(int arc) const {
    return arcs[arc].capacity - half[arcs[arc].position].residual;
  }
  int arcCount() const { return arcs.size(); }

  /// These give the network, for comparisons with other algorithms.
  int nodeCount() const { return nodes; }
  int sourceNode() const { return source; }
  int sinkNode() const { return sink; }
  int from(int arc) const { return arcs[arc].from; }
  int to(int arc) const { return arcs[arc].to; }
  int64_t capacity(int arc) const { return arcs[arc].capacity; }

  /// After `solve`, returns for each node whether it is on the sink side of the
  /// cut whose sink side is the smallest (true) or the largest (false).
  std::vector<char> sinkSide(bool smallest) const;

private:
  struct Arc {
    int from, to;
    int64_t capacity;
    int position = 0; ///< Position of its forward half.
  };
  struct HalfArc {
    int to, reverse;
    int64_t residual;
  };
  bool measureDistances();
  int64_t pushFlow();
  int64_t pushAlong(std::vector<int> &path);

  int nodes, source = 0, sink = 0;
  std::vector<Arc> arcs;
  std::vector<HalfArc> half;
  std::vector<int> first, current, distance, queue;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_MAXFLOW_H
