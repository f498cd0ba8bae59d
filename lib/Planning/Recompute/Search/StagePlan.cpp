//===- StagePlan.cpp - A plan that is cheap to change ---------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Search/StagePlan.h"

using namespace gpuopt::planning;

StagePlan::StagePlan(const Graph &graph, int64_t budgetInBytes,
                     const std::vector<Slot> &repeats)
    : graph(graph), budget(budgetInBytes) {
  reset(repeats);
}

void StagePlan::reset(const std::vector<Slot> &repeats) {
  int n = graph.size();
  mostExcess = (INT64_MAX / 4) / (n + 1);
  runs.assign(n, {});
  stageOps.assign(n, {});
  local.assign(n, 0);
  peaks.assign(n, 0);
  added.assign(n / blockSize + 1, 0);
  most.assign(n / blockSize + 1, INT64_MIN);
  isMarked.assign(n, false);
  markedStages.clear();
  repeatList = repeats;
  std::sort(repeatList.begin(), repeatList.end());
  repeatList.erase(std::unique(repeatList.begin(), repeatList.end()),
                   repeatList.end());
  for (int op = 0; op < n; ++op)
    runs[op].push_back({op, {op, op}, -1, false});
  for (size_t i = 0; i < repeatList.size(); ++i) {
    Slot slot = repeatList[i];
    stageOps[slot.stage].push_back(slot.op);
    runs[slot.op].push_back({slot.stage, slot, int(i), slot.isReload});
  }
  for (int op = n; op-- > 0;) { // sharers come before their storages
    stageOps[op].push_back(op);
    for (size_t run = 0; run < runs[op].size(); ++run)
      runs[op][run].end = findEnd(op, run);
  }
  std::vector<int64_t> change(n + 1, 0);
  for (int op = 0; op < n; ++op)
    for (const Run &run : runs[op]) {
      change[run.stage + 1] += bytesOf(op, run);
      if (run.end.stage > run.stage)
        change[run.end.stage + 1] -= bytesOf(op, run);
      else
        change[run.stage + 1] -= bytesOf(op, run);
    }
  int64_t live = 0;
  excessBytes = 0;
  for (int stage = 0; stage < n; ++stage) {
    peaks[stage] = live += change[stage];
    markStage(stage);
  }
  for (int stage : markedStages)
    excessBytes += excessOf(stagePeak(stage));
}

int StagePlan::runAt(int op, int stage) const {
  int run = runs[op].size() - 1;
  while (runs[op][run].stage > stage)
    --run;
  return run;
}

bool StagePlan::has(Slot slot) const {
  return slot.op <= slot.stage &&
         runs[slot.op][runAt(slot.op, slot.stage)].stage == slot.stage;
}

/// Returns the stage of the user's last execution before another stage.
int StagePlan::lastReading(int user, int before) const {
  int run = runAt(user, before - 1);
  while (runs[user][run].isReload) // the first run is none
    --run;
  return runs[user][run].stage;
}

/// Returns the last execution that needs the output of this run.
Slot StagePlan::findEnd(int op, int run) const {
  int from = runs[op][run].stage, n = graph.size();
  bool isLast = size_t(run) + 1 == runs[op].size();
  int next = isLast ? n : runs[op][run + 1].stage;
  if (isLast && graph.pinned[op])
    return {n - 1, n - 1};
  Slot end{from, op};
  for (int user : graph.users(op)) {
    if (user >= next)
      break; // its first run is later, and users come in order
    int stage = lastReading(user, next);
    if (stage >= from)
      end = std::max(end, {stage, user});
  }
  for (int sharer : graph.sharers(op))
    for (const Run &other : runs[sharer])
      if (other.stage >= from && other.stage < next && !other.isReload)
        end = std::max(end, other.end);
  return end;
}

int StagePlan::nextUse(int op, int run, int stage) const {
  int n = graph.size(), best = n;
  int next = size_t(run) + 1 == runs[op].size() ? n : runs[op][run + 1].stage;
  for (int user : graph.users(op)) {
    if (user >= next || user >= best)
      break;
    for (size_t i = runs[user].size(); i-- > 0;)
      if (runs[user][i].stage < next && !runs[user][i].isReload) {
        if (runs[user][i].stage <= stage)
          break;
        best = std::min(best, runs[user][i].stage);
      }
  }
  return best < next ? best : -1;
}

void StagePlan::markStage(int stage) {
  if (isMarked[stage])
    return;
  isMarked[stage] = true;
  markedStages.push_back(stage);
}

/// Adds bytes to the peaks of stages within one block. Returns the change of
/// the excess.
int64_t StagePlan::addToPart(int from, int to, int64_t bytes) {
  int64_t change = 0, common = added[from / blockSize], largest = INT64_MIN;
  int64_t *data = peaks.data();
  for (int stage = from; stage <= to; ++stage) {
    int64_t before = data[stage] + common;
    data[stage] += bytes;
    change += excessOf(before + bytes) - excessOf(before);
    largest = std::max(largest, before + bytes);
  }
  int64_t &bound = most[from / blockSize];
  bound = std::max(bound, largest);
  return change;
}

/// Does the same for a whole block, in one step if the block stays within the
/// budget.
int64_t StagePlan::addToBlock(int block, int64_t bytes) {
  int64_t change = 0, common = added[block], largest = INT64_MIN;
  if (std::max(most[block], most[block] + bytes) > budget) {
    const int64_t *data = peaks.data() + block * blockSize;
    for (int i = 0; i < blockSize; ++i) {
      int64_t before = data[i] + common;
      change += excessOf(before + bytes) - excessOf(before);
      largest = std::max(largest, before);
    }
    most[block] = largest;
  }
  added[block] += bytes;
  most[block] += bytes;
  return change;
}

void StagePlan::addCrossing(int from, int to, int64_t bytes) {
  while (from <= to) {
    int block = from / blockSize, last = block * blockSize + blockSize - 1;
    bool isWhole = from % blockSize == 0 && to >= last;
    excessBytes += isWhole ? addToBlock(block, bytes)
                           : addToPart(from, std::min(last, to), bytes);
    from = last + 1;
  }
}

int StagePlan::firstAbove(int from, int to) {
  measureMarked();
  while (from < to) {
    int end = std::min(to, (from / blockSize + 1) * blockSize);
    if (most[from / blockSize] > budget)
      for (int stage = from; stage < end; ++stage)
        if (stagePeak(stage) > budget)
          return stage;
    from = end;
  }
  return -1;
}

void StagePlan::setLocal(int stage, int64_t bytes) {
  peaks[stage] += bytes - local[stage];
  local[stage] = bytes;
  int64_t &bound = most[stage / blockSize];
  bound = std::max(bound, stagePeak(stage));
}

void StagePlan::setEnd(int op, int run, Slot end) {
  Run &changed = runs[op][run];
  if (changed.end == end)
    return;
  int before = changed.end.stage, after = end.stage;
  markStage(before);
  markStage(after);
  if (before < after)
    addCrossing(before + 1, after, bytesOf(op, changed));
  else if (after < before)
    addCrossing(after + 1, before, -bytesOf(op, changed));
  changed.end = end;
  if (int made = graph.storage[op]; made >= 0 && !changed.isReload)
    refresh(made, runAt(made, changed.stage));
}

void StagePlan::refresh(int op, int run) { setEnd(op, run, findEnd(op, run)); }

/// Updates what a run of an op reads, and its own outputs, after the run was
/// added or removed.
void StagePlan::refreshAround(int op, int stage) {
  int run = runAt(op, stage);
  refresh(op, run);
  if (runs[op][run].stage == stage && run > 0)
    refresh(op, run - 1);
  for (int input : graph.inputs(op))
    refresh(input, runAt(input, stage));
}

void StagePlan::insert(Slot slot) {
  std::vector<int> &ops = stageOps[slot.stage];
  ops.insert(std::lower_bound(ops.begin(), ops.end(), slot.op), slot.op);
  std::vector<Run> &opRuns = runs[slot.op];
  int at = runAt(slot.op, slot.stage) + 1;
  opRuns.insert(opRuns.begin() + at,
                {slot.stage, slot, int(repeatList.size()), slot.isReload});
  repeatList.push_back(slot);
  markStage(slot.stage);
  refreshAround(slot.op, slot.stage);
}

void StagePlan::remove(Slot slot) {
  int run = runAt(slot.op, slot.stage);
  setEnd(slot.op, run, slot); // frees what it holds
  markStage(slot.stage);
  int listed = runs[slot.op][run].listed;
  Slot moved = repeatList[listed] = repeatList.back();
  repeatList.pop_back();
  runs[moved.op][runAt(moved.op, moved.stage)].listed = listed;
  runs[slot.op].erase(runs[slot.op].begin() + run);
  std::vector<int> &ops = stageOps[slot.stage];
  ops.erase(std::lower_bound(ops.begin(), ops.end(), slot.op));
  refreshAround(slot.op, slot.stage);
}

void StagePlan::measureMarked() {
  for (int stage : markedStages) {
    excessBytes -= excessOf(stagePeak(stage));
    measureStage(stage);
    excessBytes += excessOf(stagePeak(stage));
    isMarked[stage] = false;
  }
  markedStages.clear();
}

/// Subtracts what ends with this execution.
void StagePlan::freeStorages(Slot slot, int64_t &live) {
  const Run &own = runs[slot.op][runAt(slot.op, slot.stage)];
  if (own.isReload) {
    live -= own.end == slot ? bytesOf(slot.op, own) : 0;
    return;
  }
  if (!graph.hasSharedStorages()) {
    for (int input : graph.inputs(slot.op))
      if (endsAt(input, runAt(input, slot.stage), slot))
        live -= graph.bytes[input];
    if (endsAt(slot.op, runAt(slot.op, slot.stage), slot))
      live -= graph.bytes[slot.op];
    return;
  }
  freed.clear(); // a storage may be in it twice
  auto visit = [&](int op, int stage) {
    int run = runAt(op, stage);
    while (graph.storage[op] >= 0 && !runs[op][run].isReload) {
      stage = runs[op][run].stage;
      op = graph.storage[op];
      run = runAt(op, stage);
    }
    std::pair<int, int> made{runs[op][run].stage, op};
    if (endsAt(op, run, slot) &&
        std::find(freed.begin(), freed.end(), made) == freed.end()) {
      freed.push_back(made);
      live -= bytesOf(op, runs[op][run]);
    }
  };
  for (int input : graph.inputs(slot.op))
    visit(input, slot.stage);
  visit(slot.op, slot.stage);
}

void StagePlan::measureStage(int stage) {
  int64_t live = 0, peak = INT64_MIN;
  for (int op : stageOps[stage]) {
    const Run &run = runs[op][runAt(op, stage)];
    live += bytesOf(op, run);
    int64_t workspace = op == stage    ? graph.workspace[op]
                        : run.isReload ? 0
                                       : graph.repeatWorkspace[op];
    peak = std::max(peak, live + workspace);
    freeStorages({stage, op}, live);
  }
  setLocal(stage, peak);
}

int64_t StagePlan::peak() {
  measureMarked();
  int64_t peak = 0;
  for (int stage = 0; stage < graph.size(); ++stage)
    peak = std::max(peak, stagePeak(stage));
  return peak;
}

double StagePlan::addedCost() const {
  double cost = 0;
  for (Slot slot : repeatList)
    cost += slot.isReload ? graph.offloadCost[slot.op] : graph.cost[slot.op];
  return cost;
}

Schedule StagePlan::schedule() const {
  Schedule result;
  for (int stage = 0; stage < graph.size(); ++stage)
    for (int op : stageOps[stage])
      result.push_back(slotAt(stage, op).isReload ? reloadOf(op) : op);
  return result;
}
