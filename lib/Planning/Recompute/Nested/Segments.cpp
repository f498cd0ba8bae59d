//===- Segments.cpp - The graph between its narrow cuts -------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Nested/Segments.h"

#include <algorithm>

using namespace gpuopt::planning;

Segments::Segments(const Graph &graph, int most) : graph(graph) {
  findTurningPoint();
  chooseBounds(most);
  findReads();
  findStretches();
  findFixed();
  findCrossings();
  sumFixedBytes();
}

void Segments::findTurningPoint() {
  // The turning point is where most bytes wait for later ops.
  std::vector<int64_t> waiting = graph.plainProfile();
  for (int op = 0; op < graph.size(); ++op)
    waiting[op] -= graph.workingSet[op];
  int turningPoint =
      std::max_element(waiting.begin(), waiting.end()) - waiting.begin();
  bounds = {0, turningPoint};
  lastForward.resize(graph.size());
  for (int op = 0; op < graph.size(); ++op) {
    lastForward[op] = op;
    if (op >= turningPoint)
      continue;
    lastForward[graph.holder[op]] = std::max(lastForward[graph.holder[op]], op);
    for (int input : graph.inputs(op)) {
      int &last = lastForward[graph.holder[input]];
      last = std::max(last, op);
    }
  }
}

/// Splits the ops into groups with equal bytes, and chooses the narrowest place
/// in each.
void Segments::chooseBounds(int most) {
  int turningPoint = bounds.back();
  std::vector<int64_t> change(turningPoint + 1, 0);
  std::vector<int> blocked(turningPoint + 1, 0);
  double total = 0;
  for (int op = 0; op < turningPoint; ++op) {
    total += double(graph.bytes[op]);
    int end = lastForward[op];
    if (graph.holder[op] == op && graph.mayReturn(op)) {
      change[op] += graph.heldBytes[op]; // crosses the places after op..end-1
      change[end] -= graph.heldBytes[op];
    }
    // An output that is overwritten cannot be kept until later.
    if (int user = graph.overwriter[op]; user >= 0 && user < turningPoint) {
      ++blocked[op];
      --blocked[user];
    }
  }
  std::vector<int> chosen{0};
  int64_t width = 0, narrowest = 0;
  double made = 0;
  int isBlocked = 0, best = -1;
  int group = 0;
  for (int op = 0; op + 1 < turningPoint; ++op) {
    width += change[op];
    isBlocked += blocked[op];
    made += double(graph.bytes[op]);
    if (!isBlocked && (best < 0 || width < narrowest)) {
      best = op + 1;
      narrowest = width;
    }
    int now =
        turningPoint <= most ? op + 1 : int(made / std::max(total, 1.) * most);
    if (now > group && best > 0) {
      chosen.push_back(best);
      best = -1;
      group = now;
    }
  }
  chosen.push_back(turningPoint);
  bounds = std::move(chosen);
}

/// Finds where the outputs of this segment and later ones have been read, and
/// those of the ones before have not. Bytes decide, because there are
/// exceptions: a weight's gradient may be computed early, or a transpose be
/// used late.
void Segments::findStretches() {
  int n = graph.size();
  std::vector<int64_t> readFirst(n + 1, 0), readLast(n + 1, 0);
  for (int op = 0; op < turningPoint(); ++op)
    if (graph.holder[op] == op && graph.mayReturn(op) && firstRead[op] < n)
      readFirst[firstRead[op]] += graph.heldBytes[op];
  stretches.assign(bounds.size(), turningPoint());
  stretches[0] = n;
  for (int s = size(); s-- > 1;) {
    for (int op = begin(s); op < begin(s + 1); ++op)
      if (graph.holder[op] == op && graph.mayReturn(op) && firstRead[op] < n) {
        readFirst[firstRead[op]] -= graph.heldBytes[op];
        readLast[lastRead[op]] += graph.heldBytes[op];
      }
    int64_t misplaced = 0, least = 0;
    int best = turningPoint();
    for (int at = turningPoint() + 1; at <= n; ++at) {
      misplaced += readFirst[at - 1] - readLast[at - 1];
      if (misplaced < least) {
        least = misplaced;
        best = at;
      }
    }
    stretches[s] = std::max(best, stretches[s + 1]);
  }
}

/// Finds the readers after the turning point, by holder; `size()` if there is
/// none.
void Segments::findReads() {
  int n = graph.size();
  firstRead.assign(n, n);
  lastRead.assign(n, 0);
  for (int op = turningPoint(); op < n; ++op)
    for (int input : graph.inputs(op)) {
      int holder = graph.holder[input];
      firstRead[holder] = std::min(firstRead[holder], op);
      lastRead[holder] = std::max(lastRead[holder], op);
    }
}

/// Outputs that are read after the stretch of their segment are never dropped.
void Segments::findFixed() {
  isFixed.assign(graph.size(), false);
  for (int s = 0; s < size(); ++s)
    for (int op = begin(s); op < begin(s + 1); ++op) {
      int holder = graph.holder[op];
      isFixed[op] = !graph.mayReturn(op) || graph.pinned[holder] ||
                    lastRead[holder] >= stretch(s);
    }
}

void Segments::findCrossings() {
  crossings.resize(bounds.size());
  for (size_t s = 1; s + 1 < bounds.size(); ++s)
    for (int op = 0; op < bounds[s]; ++op)
      if (makesDroppable(op) && lastForward[op] >= bounds[s])
        crossings[s].push_back(op);
}

void Segments::sumFixedBytes() {
  int n = graph.size();
  std::vector<int> ends(n);
  for (int op = 0; op < n; ++op) {
    int &end = ends[graph.root[op]];
    end = std::max({end, op, graph.lastUser[op]});
  }
  std::vector<int64_t> change(n + 2, 0);
  for (int op = 0; op < n; ++op)
    if (op >= turningPoint() || !mayDrop(graph.holder[op])) {
      change[op] += graph.bytes[op];
      change[std::min(ends[op], n) + 1] -= graph.bytes[op];
    }
  int64_t live = 0;
  for (int op = 0; op < n; ++op) {
    live += change[op];
    if (op >= turningPoint()) {
      fixed.push_back(live + graph.workspace[op]);
      fixedBefore.push_back(live - graph.bytes[op]);
    }
  }
  fixed.push_back(0);
  fixedBefore.push_back(0);
}
