//===- SearchSpace.cpp - The problem as local search sees it --------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Recompute/Search/SearchSpace.h"

using namespace gpuopt::planning;

static RecomputeProblem widen(const RecomputeProblem &problem,
                              int stagesPerOp) {
  RecomputeProblem wide;
  RecomputeOp empty, end;
  empty.recomputable = end.recomputable = false;
  auto atOp = [&](int op) { return op * stagesPerOp + stagesPerOp - 1; };
  for (RecomputeOp op : problem.ops) {
    for (int &input : op.inputs)
      input = atOp(input);
    if (op.storage >= 0)
      op.storage = atOp(op.storage);
    wide.ops.resize(wide.ops.size() + stagesPerOp - 1, empty);
    if (op.pinned)
      end.inputs.push_back(wide.ops.size());
    op.pinned = false;
    wide.ops.push_back(std::move(op));
  }
  if (!end.inputs.empty()) {
    wide.ops.resize(wide.ops.size() + stagesPerOp - 1, empty);
    wide.ops.push_back(std::move(end));
  }
  return wide;
}

SearchSpace::SearchSpace(const RecomputeProblem &problem, int stagesPerOp)
    : stagesPerOp(stagesPerOp), ops(problem.ops.size()),
      spaceGraph(widen(problem, stagesPerOp)) {}

Schedule SearchSpace::scheduleOf(const StagePlan &plan) const {
  Schedule schedule;
  for (int stage = 0; stage < spaceGraph.size(); ++stage)
    for (int op : plan.opsOfStage(stage))
      if ((op + 1) % stagesPerOp == 0 && op / stagesPerOp < ops)
        schedule.push_back(plan.slotAt(stage, op).isReload
                               ? reloadOf(op / stagesPerOp)
                               : op / stagesPerOp);
  return schedule;
}

std::optional<std::vector<Slot>>
SearchSpace::repeatsOf(const Schedule &schedule) const {
  std::vector<Slot> repeats;
  int expected = 0, last = -1, stage = 0; // `stage`: of those before `expected`
  size_t stageBegin = 0;
  // Repeats fill a stage as long as they are in order, and then the next one.
  // Afterwards they are moved back to the last stages before the op.
  auto close = [&] {
    for (size_t i = stageBegin; i < repeats.size(); ++i)
      repeats[i].stage += atOp(expected) - stage;
    stageBegin = repeats.size();
    last = -1;
    stage = 0;
  };
  for (int entry : schedule) {
    if (entry == expected) {
      close();
      ++expected;
      continue;
    }
    int op = opOf(entry);
    if (op <= last)
      ++stage;
    last = op;
    if (stage >= stagesPerOp)
      return std::nullopt;
    repeats.push_back({stage, atOp(op), isReload(entry)});
  }
  if (stageBegin < repeats.size()) { // after the last op: before the end
    if (atOp(expected) >= spaceGraph.size())
      return std::nullopt;
    close();
  }
  return repeats;
}

std::vector<Slot>
SearchSpace::fromPlain(const std::vector<Slot> &repeats) const {
  std::vector<Slot> result;
  for (Slot slot : repeats)
    result.push_back({atOp(slot.stage), atOp(slot.op), slot.isReload});
  return result;
}
