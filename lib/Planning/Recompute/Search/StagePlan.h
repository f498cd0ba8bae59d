//===- StagePlan.h - A plan that is cheap to change -------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A schedule in stages: stage t holds the first execution of op t and, before
// it, the ops that run again there or whose outputs are reloaded, each at most
// once, in the order of the ops. A plan is then a set of (stage, op), and its
// peak changes only where the lifetimes change, so that local search can try
// many plans.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_STAGEPLAN_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_STAGEPLAN_H

#include "Recompute/Graph.h"
#include "gpuopt/Planning/Recompute/Schedule.h"

#include <algorithm>

/// Compiled for newer processors too, where comparisons of 64-bit integers are
/// single instructions; which one runs is found out when the program starts:
/// too early for sanitizers.
#if defined(__x86_64__) && defined(__GLIBC__) &&                               \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) &&         \
    !defined(GPUOPT_WITHOUT_CLONES)
#define GPUOPT_WITH_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define GPUOPT_WITH_AVX2
#endif

namespace gpuopt::planning {

/// An execution: of op `op`, in the stage of the first execution of `stage`; or
/// a reload of its output. A slot holds one of the two, so they compare equal.
struct Slot {
  int stage, op;
  bool isReload = false;
  bool operator<(const Slot &other) const {
    return stage != other.stage ? stage < other.stage : op < other.op;
  }
  bool operator==(const Slot &other) const {
    return stage == other.stage && op == other.op;
  }
};

class StagePlan {
public:
  /// Has the plain order and the given repeats, whose order does not matter.
  StagePlan(const Graph &graph, int64_t budgetInBytes,
            const std::vector<Slot> &repeats = {});

  /// Insert a repeat that is not in the plan, with op < stage, or erase one
  /// that is.
  void insert(Slot slot);
  void remove(Slot slot);
  /// Replaces all repeats.
  void reset(const std::vector<Slot> &repeats);

  bool has(Slot slot) const;
  /// Returns the slot as it is in the plan, which must have it.
  Slot slotAt(int stage, int op) const {
    return {stage, op, runs[op][runAt(op, stage)].isReload};
  }
  /// Returns the bytes above the budget, summed over stages: 0 if the plan is
  /// within it.
  int64_t excess() {
    measureMarked();
    return excessBytes;
  }
  /// Returns the first stage in [from, to) above the budget, or -1.
  int firstAbove(int from, int to);
  int64_t peak();
  double addedCost() const;
  const std::vector<Slot> &repeats() const { return repeatList; }
  const std::vector<int> &opsOfStage(int stage) const {
    return stageOps[stage];
  }

  /// One execution of an op, and the last one that needs its output.
  struct Run {
    int stage;
    Slot end;
    int listed; ///< Position among the repeats; -1 for first executions.
    bool isReload;
  };
  const std::vector<Run> &runsOf(int op) const { return runs[op]; }
  /// Returns the latest run at or before a stage, which is not before the first
  /// run.
  int runAt(int op, int stage) const;
  /// Returns the first stage after `stage`, and before the next run, that reads
  /// the output; -1 if there is none.
  int nextUse(int op, int run, int stage) const;

  Schedule schedule() const;

private:
  Slot findEnd(int op, int run) const;
  int lastReading(int user, int before) const;
  /// Returns the bytes that a run holds by itself.
  int64_t bytesOf(int op, const Run &run) const {
    return run.isReload ? graph.heldBytes[op] : graph.bytes[op];
  }
  void refresh(int op, int run);
  void refreshAround(int op, int stage);
  void setEnd(int op, int run, Slot end);
  int64_t stagePeak(int stage) const {
    return peaks[stage] + added[stage / blockSize];
  }
  void measureMarked();
  void measureStage(int stage);
  void addCrossing(int from, int to, int64_t bytes);
  GPUOPT_WITH_AVX2 int64_t addToPart(int from, int to, int64_t bytes);
  GPUOPT_WITH_AVX2 int64_t addToBlock(int block, int64_t bytes);
  void setLocal(int stage, int64_t bytes);
  void markStage(int stage);
  int64_t excessOf(int64_t peak) const {
    return std::min(std::max<int64_t>(peak - budget, 0), mostExcess);
  }
  void freeStorages(Slot slot, int64_t &live);
  bool endsAt(int op, int run, Slot slot) const {
    return runs[op][run].end == slot;
  }

  const Graph &graph;
  int64_t budget;
  std::vector<std::vector<Run>> runs;
  std::vector<std::vector<int>> stageOps;
  std::vector<int64_t> local; ///< Peaks above what is alive before the stage.
  /// The peaks of stages. What all stages of a block have in common is stored
  /// separately, and no peak in the block exceeds `most`, so most changes touch
  /// only blocks.
  static constexpr int blockSize = 64;
  std::vector<int64_t> peaks, added, most;
  std::vector<Slot> repeatList;
  /// Stages whose ops or lifetimes have changed. They are measured when the
  /// next peak is asked for, however many changes there were.
  std::vector<int> markedStages;
  std::vector<char> isMarked;
  std::vector<std::pair<int, int>> freed; ///< By one execution: stage and op.
  int64_t excessBytes = 0;
  int64_t mostExcess = 0; ///< What one stage counts at most: sums must fit.
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_STAGEPLAN_H
