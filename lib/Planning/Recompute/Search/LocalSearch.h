//===- LocalSearch.h - Local search over repeats ----------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_RECOMPUTE_LOCALSEARCH_H
#define GPUOPT_LIB_PLANNING_RECOMPUTE_LOCALSEARCH_H

#include "Random.h"
#include "Recompute/Search/SearchSpace.h"

#include <functional>

namespace gpuopt::planning {

/// The best schedule seen so far within one budget.
struct BestSchedule {
  bool found = false;
  double addedCost = 0;
  Schedule schedule;

  bool wouldTake(double cost) const { return !found || cost < addedCost; }
  void offer(double cost, Schedule newSchedule) {
    if (!wouldTake(cost))
      return;
    found = true;
    addedCost = cost;
    schedule = std::move(newSchedule);
  }
};

/// Simulated annealing over single executions. A move drops an output over a
/// gap and runs its op again or reloads it, undoes that, moves it earlier or
/// later, or exchanges a repeat and a reload. It minimises the added cost plus
/// a price for bytes above the budget; the price changes so that the search
/// stays close to the budget.
class LocalSearch {
public:
  LocalSearch(const SearchSpace &space, int64_t budgetInBytes, uint64_t seed);

  /// Anneals from the given repeats for this many moves, and offers each plan
  /// within the budget. `heat` is the first temperature, in costs of an average
  /// op.
  void anneal(const std::vector<Slot> &start, int64_t moves, double heat,
              BestSchedule &best, const std::function<bool()> &isOver);

private:
  void propose();
  void dropSomewhere();
  void removeSomewhere();
  void shiftSomewhere();
  void shiftOverwritten(Slot slot, int stage);
  Slot pickRepeat();
  void removeDead(Slot slot);
  void switchSomewhere();
  bool drawsReload(int op);
  void takeWithInputs(Slot slot, std::vector<Slot> &taken);
  void moveWithInputs(Slot slot, int stage);
  void runAgain(Slot slot, int depth);
  int pickStage();
  double costOf(Slot slot) const {
    return slot.isReload ? graph.offloadCost[slot.op] : graph.cost[slot.op];
  }
  void insert(Slot slot);
  void remove(Slot slot);
  void undo();

  struct Edit {
    bool isInsertion;
    Slot slot;
  };

  void offerTo(BestSchedule &best);

  const SearchSpace &space;
  const Graph &graph;
  StagePlan plan;
  Random random;
  std::vector<Edit> edits;
  double addedCost = 0, price = 0, averageCost = 0;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_RECOMPUTE_LOCALSEARCH_H
