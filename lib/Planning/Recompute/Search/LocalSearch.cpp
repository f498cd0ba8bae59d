//===- LocalSearch.cpp - Local search over repeats ------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Search/LocalSearch.h"

using namespace gpuopt::planning;

LocalSearch::LocalSearch(const SearchSpace &space, int64_t budgetInBytes,
                         uint64_t seed)
    : space(space), graph(space.graph()), plan(graph, budgetInBytes),
      random(seed) {
  averageCost = graph.totalCost / std::max(1, graph.size());
}

void LocalSearch::insert(Slot slot) {
  plan.insert(slot);
  addedCost += costOf(slot);
  edits.push_back({true, slot});
}

void LocalSearch::remove(Slot slot) {
  plan.remove(slot);
  addedCost -= costOf(slot);
  edits.push_back({false, slot});
}

void LocalSearch::undo() {
  for (size_t i = edits.size(); i-- > 0;) {
    if (edits[i].isInsertion)
      plan.remove(edits[i].slot);
    else
      plan.insert(edits[i].slot);
  }
  edits.clear();
}

/// Picks a stage, mostly one above the budget if there is one.
int LocalSearch::pickStage() {
  int n = graph.size(), start = random.below(n);
  if (plan.excess() == 0 || random.below(8) == 0)
    return start;
  int stage = plan.firstAbove(start, n);
  if (stage < 0)
    stage = plan.firstAbove(0, start);
  return stage < 0 ? start : stage;
}

/// Decides at random whether to reload. Reloads that cost much more than the op
/// are rare, but may be cheaper than everything else that would have to run
/// again.
bool LocalSearch::drawsReload(int op) {
  return random.below(graph.offloadCost[op] > 4 * graph.cost[op] ? 16 : 2) == 0;
}

/// Runs an op again. Inputs that would live on only for this may run again,
/// too.
void LocalSearch::runAgain(Slot slot, int depth) {
  if (graph.mayReload(slot.op))
    slot.isReload = !graph.recomputable[slot.op] || drawsReload(slot.op);
  insert(slot);
  if (slot.isReload)
    return;
  for (int input : graph.inputs(slot.op)) {
    int run = plan.runAt(input, slot.stage);
    const StagePlan::Run &read = plan.runsOf(input)[run];
    if (input == graph.overwritten[slot.op]) {
      if (read.stage < slot.stage)
        runAgain({slot.stage, input}, std::max(0, depth - 1));
      continue;
    }
    if (depth == 0)
      continue;
    if (read.stage < slot.stage && read.end == slot && graph.mayReturn(input) &&
        random.below(2))
      runAgain({slot.stage, input}, depth - 1);
  }
}

void LocalSearch::dropSomewhere() {
  int stage = pickStage();
  if (stage == 0)
    return;
  for (int attempt = 0; attempt < 32; ++attempt) {
    int op = random.below(stage);
    if (!graph.mayReturn(op))
      continue;
    int run = plan.runAt(op, stage);
    if (plan.runsOf(op)[run].end.stage <= stage ||
        plan.runsOf(op)[run].stage == stage)
      continue;
    int use = plan.nextUse(op, run, stage);
    if (use < 0)
      continue;
    runAgain({use, op}, 1 << random.below(6));
    return;
  }
}

/// Removes repeats that nothing reads any more, beginning with the inputs of a
/// removed repeat.
void LocalSearch::removeDead(Slot slot) {
  if (slot.isReload) // a reload has no inputs
    return;
  for (int input : graph.inputs(slot.op)) {
    const StagePlan::Run &read =
        plan.runsOf(input)[plan.runAt(input, slot.stage)];
    Slot own{read.stage, input, read.isReload};
    if (read.listed < 0 || !(read.end == own))
      continue;
    remove(own);
    removeDead(own);
  }
}

/// Picks a repeat, but none that another repeat overwrites, since they move
/// together.
Slot LocalSearch::pickRepeat() {
  Slot slot = plan.repeats()[random.below(plan.repeats().size())];
  while (graph.overwriter[slot.op] >= 0) {
    int run = plan.runAt(slot.op, slot.stage), user = graph.overwriter[slot.op];
    int use = plan.nextUse(slot.op, run, slot.stage - 1);
    if (use < 0 || use == user) // no reader, or the first execution
      break;
    slot = {use, user};
  }
  return slot;
}

void LocalSearch::removeSomewhere() {
  if (plan.repeats().empty())
    return;
  Slot slot = pickRepeat();
  remove(slot);
  removeDead(slot);
}

/// Takes a repeat out of its stage, and the repeats of its inputs there that
/// nothing else reads.
void LocalSearch::takeWithInputs(Slot slot, std::vector<Slot> &taken) {
  remove(slot);
  taken.push_back(slot);
  if (slot.isReload)
    return;
  for (int input : graph.inputs(slot.op)) {
    const StagePlan::Run &read =
        plan.runsOf(input)[plan.runAt(input, slot.stage)];
    Slot own{slot.stage, input, read.isReload};
    bool goesAlong = read.end == own || input == graph.overwritten[slot.op];
    if (read.stage == slot.stage && read.listed >= 0 && goesAlong)
      takeWithInputs(own, taken);
  }
}

/// Moves a repeat to another stage, together with the repeats of its inputs
/// that nothing else reads; if one moved alone, its inputs would have to stay
/// alive in between. All are removed before any is inserted, because in a later
/// stage an output would still read the inputs that are left behind.
void LocalSearch::moveWithInputs(Slot slot, int stage) {
  std::vector<Slot> taken;
  takeWithInputs(slot, taken);
  for (Slot old : taken)
    if (!plan.has({stage, old.op}))
      insert({stage, old.op, old.isReload});
}

/// Moves what the slot's op overwrites together with it.
void LocalSearch::shiftOverwritten(Slot slot, int stage) {
  int input = graph.overwritten[slot.op];
  if (input < 0 || plan.has({stage, input}))
    return;
  Slot old{slot.stage, input};
  if (plan.has(old))
    remove(old);
  insert({stage, input});
  shiftOverwritten(old, stage);
}

void LocalSearch::shiftSomewhere() {
  if (plan.repeats().empty())
    return;
  Slot slot = pickRepeat();
  int run = plan.runAt(slot.op, slot.stage);
  int use = plan.nextUse(slot.op, run, slot.stage), stage;
  if (use >= 0 && random.below(2))
    stage = use;
  else
    stage = slot.stage + (random.below(2) ? 1 : -1) *
                             (1 << random.below(1 + random.below(10)));
  if (stage <= slot.op || stage >= graph.size() || plan.has({stage, slot.op}))
    return;
  if (random.below(2)) {
    moveWithInputs(slot, stage);
    return;
  }
  remove(slot);
  insert({stage, slot.op, slot.isReload});
  if (slot.isReload)
    return;
  shiftOverwritten(slot, stage);
  if (random.below(2))
    removeDead(slot);
}

/// Replaces a repeat by a reload, or a reload by a repeat.
void LocalSearch::switchSomewhere() {
  if (plan.repeats().empty())
    return;
  Slot slot = plan.repeats()[random.below(plan.repeats().size())];
  if (!graph.mayReload(slot.op) || !graph.recomputable[slot.op])
    return;
  remove(slot);
  if (!slot.isReload) {
    insert({slot.stage, slot.op, true});
    removeDead(slot);
    return;
  }
  insert({slot.stage, slot.op});
  for (int input : graph.inputs(slot.op)) {
    bool isThere = plan.has({slot.stage, input});
    if (input == graph.overwritten[slot.op]
            ? !isThere
            : !isThere && graph.mayReturn(input) && random.below(2))
      runAgain({slot.stage, input}, 1 << random.below(4));
  }
}

void LocalSearch::propose() {
  int kind = random.below(graph.hasOffload ? 18 : 16);
  if (kind < 6)
    dropSomewhere();
  else if (kind < 10)
    removeSomewhere();
  else if (kind < 13)
    shiftSomewhere();
  else if (kind < 16) {
    removeSomewhere();
    dropSomewhere();
  } else {
    switchSomewhere();
  }
}

void LocalSearch::offerTo(BestSchedule &best) {
  // The running sum has rounding errors, so the exact sum decides.
  if (plan.excess() == 0 && best.wouldTake(addedCost) &&
      best.wouldTake(plan.addedCost()))
    best.offer(plan.addedCost(), space.scheduleOf(plan));
}

void LocalSearch::anneal(const std::vector<Slot> &start, int64_t moves,
                         double heat, BestSchedule &best,
                         const std::function<bool()> &isOver) {
  plan.reset(start);
  addedCost = plan.addedCost();
  offerTo(best);
  double plainPeak = std::max<int64_t>(1, plan.peak());
  if (price == 0)
    price = 4 * graph.totalCost / plainPeak / std::max(1, graph.size());
  double leastPrice = price * 1e-4, mostPrice = price * 1e6;
  int feasible = 0;
  for (int64_t move = 0; move < moves; ++move) {
    double temperature =
        averageCost * heat * portableExp(-7. * double(move) / double(moves));
    if (move % 64 == 0) {
      if (isOver())
        return;
      price = feasible > 40   ? std::max(price / 1.15, leastPrice)
              : feasible < 16 ? std::min(price * 1.15, mostPrice)
                              : price;
      feasible = 0;
    }
    double cost = addedCost, excess = plan.excess();
    propose();
    double change = addedCost - cost + price * (double(plan.excess()) - excess);
    if (change > 0 && change > temperature * random.exponential()) {
      undo();
      addedCost = cost;
    } else {
      edits.clear();
      offerTo(best);
    }
    feasible += plan.excess() == 0;
  }
}
