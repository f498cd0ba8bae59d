//===- FitArena.cpp - A step within a budget --------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FitArena.h"

#include "gpuopt/Analysis/CostModel.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Analysis/StepMemory.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

/// Rounds of solving and packing: each asks for less by what the last arena
/// was too high.
static constexpr int kMostRounds = 8;

static double timeOf(StepOp step, const DeviceModel &device) {
  double time = 0;
  for (Operation &op : step.getBody().front())
    time += timeInNanoseconds(&op, device);
  return time;
}

/// The height of the packed arena, or -1 after an error.
static int64_t arenaHeight(StepOp step) {
  llvm::StringMap<unsigned> names;
  StepMemory memory(step, names);
  return succeeded(memory.pack()) ? memory.getHeight() : -1;
}

/// What the execution with the largest working set needs alive.
static void describeLimit(const StepGraph &graph, UnmetBudget &unmet) {
  const auto &ops = graph.problem.ops;
  auto storageOf = [&](int op) {
    while (ops[op].storage >= 0)
      op = ops[op].storage;
    return op;
  };
  int64_t largest = -1;
  for (auto [index, op] : llvm::enumerate(ops)) {
    llvm::SmallSetVector<int, 8> storages;
    storages.insert(storageOf(index));
    for (int input : op.inputs)
      storages.insert(storageOf(input));
    int64_t bytes = op.workspaceInBytes;
    for (int storage : storages)
      bytes += ops[storage].sizeInBytes;
    if (bytes <= largest)
      continue;
    largest = bytes;
    unmet.heldBytes.clear();
    for (int storage : storages)
      if (Value value = graph.nodes[storage].value)
        unmet.heldBytes.push_back({originOf(value), ops[storage].sizeInBytes});
    const StepGraph::Node &node = graph.nodes[index];
    unmet.limitOrigin = node.value ? originOf(node.value) : nameOf(node.op->getLoc());
  }
  llvm::sort(unmet.heldBytes, [](const auto &a, const auto &b) { return a.second > b.second; });
}

namespace {

class Fitter {
public:
  Fitter(StepOp step, const DeviceModel &device, int64_t budget, int64_t effort)
      : step(step), device(device), budget(budget), effort(effort) {}

  std::variant<FittedStep, UnmetBudget, planning::Error> run() {
    fitted.plainTimeInNanoseconds = timeOf(step, device);
    fitted.plainArenaInBytes = fitted.arenaInBytes = arenaHeight(step);
    if (fitted.plainArenaInBytes <= budget)
      return std::move(fitted);
    StepGraph graph = buildStepGraph(step, device);
    UnmetBudget unmet;
    unmet.smallestArenaInBytes = fitted.plainArenaInBytes;
    planning::RecomputeOptions options;
    options.budgetInBytes = budget;
    options.effort = effort;
    for (int round = 0; round < kMostRounds; ++round) {
      auto solution = planning::solveRecompute(graph.problem, options);
      if (!solution)
        return solution.error();
      unmet.lowerLimitInBytes = std::max(unmet.lowerLimitInBytes, solution->budgetLowerLimit);
      if (round == 0)
        keepBound(graph.problem, *solution);
      if (!solution->found) {
        if (round == 0)
          unmet.smallestArenaInBytes = solution->smallestBudgetFound;
        break;
      }
      if (auto error = planning::verify(graph.problem, solution->schedule, options.budgetInBytes))
        return *error;
      int64_t height = apply(solution->schedule);
      if (height >= 0 && height <= budget)
        return std::move(fitted);
      unmet.smallestArenaInBytes = std::min(unmet.smallestArenaInBytes, height);
      options.budgetInBytes -= height - budget;
    }
    describeLimit(graph, unmet);
    return unmet;
  }

private:
  /// The bound of the whole budget holds for every arena within it.
  void keepBound(const planning::RecomputeProblem &problem, planning::RecomputeSolution &solution) {
    fitted.certificate = std::move(solution.certificate);
    if (fitted.certificate.isEmpty())
      return;
    if (auto bound = planning::checkCertificate(problem, budget, fitted.certificate))
      fitted.lowerBoundInNanoseconds = *bound;
  }

  /// The arena's height, or -1 after an error.
  int64_t apply(const planning::Schedule &schedule) {
    fitted.step = cast<StepOp>(step->clone());
    StepGraph graph = buildStepGraph(*fitted.step, device);
    fitted.repeats = applySchedule(graph, schedule);
    fitted.addedTimeInNanoseconds = 0;
    for (const Repeat &repeat : fitted.repeats)
      fitted.addedTimeInNanoseconds += repeat.costInNanoseconds;
    return fitted.arenaInBytes = arenaHeight(*fitted.step);
  }

  StepOp step;
  const DeviceModel &device;
  int64_t budget, effort;
  FittedStep fitted;
};

} // namespace

std::variant<FittedStep, UnmetBudget, planning::Error>
train::fitArena(StepOp step, const DeviceModel &device, int64_t budgetInBytes, int64_t effort) {
  return Fitter(step, device, budgetInBytes, effort).run();
}
