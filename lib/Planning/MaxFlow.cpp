//===- MaxFlow.cpp - Maximum flow and minimum cut -------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MaxFlow.h"

#include <algorithm>

using namespace gpuopt::planning;

int MaxFlow::addArc(int from, int to, int64_t capacity) {
  arcs.push_back({from, to, capacity});
  return arcs.size() - 1;
}

void MaxFlow::finish(int newSource, int newSink) {
  source = newSource;
  sink = newSink;
  first.assign(nodes + 1, 0);
  for (const Arc &arc : arcs) {
    ++first[arc.from + 1];
    ++first[arc.to + 1];
  }
  for (int i = 0; i < nodes; ++i)
    first[i + 1] += first[i];
  half.resize(2 * arcs.size());
  std::vector<int> next(first.begin(), first.end() - 1);
  for (Arc &arc : arcs) {
    int forward = next[arc.from]++, backward = next[arc.to]++;
    half[forward] = {arc.to, backward, 0};
    half[backward] = {arc.from, forward, 0};
    arc.position = forward;
  }
}

/// Measures distances to the sink by breadth-first search; returns false if the
/// source is cut off.
bool MaxFlow::measureDistances() {
  distance.assign(nodes, -1);
  queue.clear();
  queue.push_back(sink);
  distance[sink] = 0;
  for (size_t head = 0; head < queue.size(); ++head) {
    int node = queue[head];
    if (distance[source] >= 0 && distance[node] >= distance[source])
      break; // nothing farther than the source is on a shortest path
    for (int i = first[node]; i < first[node + 1]; ++i) {
      int other = half[i].to;
      if (distance[other] < 0 && half[half[i].reverse].residual > 0) {
        distance[other] = distance[node] + 1;
        queue.push_back(other);
      }
    }
  }
  return distance[source] >= 0;
}

/// Pushes as much as the path can carry, and shortens the path to before its
/// first full arc.
int64_t MaxFlow::pushAlong(std::vector<int> &path) {
  int64_t amount = INT64_MAX;
  for (int arc : path)
    amount = std::min(amount, half[arc].residual);
  size_t keep = path.size();
  for (size_t i = path.size(); i-- > 0;) {
    half[path[i]].residual -= amount;
    half[half[path[i]].reverse].residual += amount;
    if (half[path[i]].residual == 0)
      keep = i;
  }
  path.resize(keep);
  return amount;
}

/// Finds a blocking flow in the layered network by depth-first search.
int64_t MaxFlow::pushFlow() {
  int64_t total = 0;
  std::vector<int> path;
  current.assign(first.begin(), first.end() - 1);
  for (;;) {
    int node = path.empty() ? source : half[path.back()].to;
    if (node == sink) {
      total += pushAlong(path);
      continue;
    }
    int &i = current[node];
    while (i < first[node + 1] && (half[i].residual == 0 ||
                                   distance[half[i].to] != distance[node] - 1))
      ++i;
    if (i < first[node + 1]) {
      path.push_back(i);
      continue;
    }
    if (path.empty())
      return total;
    distance[node] = -1; // a dead end, not visited again
    path.pop_back();
  }
}

int64_t MaxFlow::solve() {
  for (HalfArc &arc : half)
    arc.residual = 0;
  for (const Arc &arc : arcs)
    half[arc.position].residual = arc.capacity;
  int64_t total = 0;
  while (measureDistances())
    total += pushFlow();
  return total;
}

std::vector<char> MaxFlow::sinkSide(bool smallest) const {
  // The smallest side has the nodes that reach the sink, the largest those that
  // the source does not reach.
  std::vector<char> reached(nodes, false);
  std::vector<int> stack{smallest ? sink : source};
  reached[stack.back()] = true;
  while (!stack.empty()) {
    int node = stack.back();
    stack.pop_back();
    for (int i = first[node]; i < first[node + 1]; ++i) {
      const HalfArc &arc = smallest ? half[half[i].reverse] : half[i];
      if (arc.residual > 0 && !reached[half[i].to]) {
        reached[half[i].to] = true;
        stack.push_back(half[i].to);
      }
    }
  }
  if (!smallest)
    for (char &mark : reached)
      mark = !mark;
  return reached;
}
