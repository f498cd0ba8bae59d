//===- ScheduleStep.cpp - A step within a budget --------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Schedule/ScheduleStep.h"

#include "Schedule/GroupByKernel.h"
#include "Schedule/PlaceTransfers.h"
#include "gpuopt/Analysis/Costs/CostModel.h"
#include "gpuopt/Analysis/Memory/Buffers.h"
#include "gpuopt/Analysis/Memory/PersistentMemory.h"
#include "gpuopt/Analysis/Memory/StepMemory.h"
#include "gpuopt/Analysis/Origins.h"
#include "gpuopt/Planning/Recompute/PlanText.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace gpuopt;
using namespace gpuopt::train;

static double timeOf(StepOp step, const DeviceModel &device) {
  double time = 0;
  for (Operation &op : step.getBody().front())
    time += timeInNanoseconds(&op, device);
  return time;
}

/// Returns the height of the packed arena, or -1 after an error.
static int64_t arenaHeight(StepOp step) {
  llvm::StringMap<unsigned> names;
  StepMemory memory(step, names);
  return succeeded(memory.pack()) ? memory.getHeight() : -1;
}

/// Does the same, but stops at `capacityInBytes`, if given, and sets the
/// offsets on the ops.
static int64_t placeTensors(StepOp step,
                            std::optional<int64_t> capacityInBytes) {
  llvm::StringMap<unsigned> names;
  StepMemory memory(step, names);
  if (failed(memory.pack(capacityInBytes)))
    return -1;
  memory.writeOffsets();
  return memory.getHeight();
}

/// Whether `op` reads one of these variables.
static bool readsAnyOf(Operation *op,
                       const llvm::DenseSet<Attribute> &variables) {
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto read = sourceOf(operand).getDefiningOp<ReadOp>();
    return read && variables.contains(read.getVariableAttr());
  });
}

/// Describes what is alive at the execution with the largest working set.
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
        unmet.heldBytes.push_back(
            {tensorNameOf(value), ops[storage].sizeInBytes});
    const StepGraph::Node &node = graph.nodes[index];
    unmet.limitOrigin =
        node.value ? originOf(node.value) : nameOf(node.op->getLoc());
  }
  llvm::sort(unmet.heldBytes,
             [](const auto &a, const auto &b) { return a.second > b.second; });
}

namespace {

class StepScheduler {
public:
  StepScheduler(StepOp step, const DeviceModel &device,
                const StepScheduleOptions &options,
                planning::LadderStore &ladders)
      : step(step), device(device), options(options),
        budget(options.budgetInBytes), graph(graphOf(step)),
        error(graph.problem.check()) {
    if (!error)
      ladder = &ladders.ladderOf(graph.problem, effort());
  }

  std::variant<ScheduledStep, UnmetBudget, planning::Error> run() {
    if (error)
      return *error;
    scheduled.plainTimeInNanoseconds = timeOf(step, device);
    scheduled.plainArenaInBytes = scheduled.arenaInBytes = arenaHeight(step);
    if (scheduled.plainArenaInBytes < 0)
      return planning::Error{"its arena cannot be packed"};
    if (scheduled.plainArenaInBytes <= budget)
      return std::move(scheduled);
    planning::RecomputeSolution solution =
        options.takesAny ? takeAny()
                         : ladder->solve(budget, [&](const auto &plan) {
                             return take(plan);
                           });
    keepBound(solution.certificate);
    bool searches =
        options.searchSmallest && !isCloseTo(solution.budgetLowerLimit);
    if (!best && !error && searches)
      findSmallest();
    else if (!best && !error && !options.takesAny &&
             budget >= solution.budgetLowerLimit)
      takeIfSmaller(ladder->leastPlan()); // the search ended with it
    if (error)
      return *error;
    if (best && best->arenaInBytes <= budget)
      return finish(*best);
    UnmetBudget unmet;
    unmet.smallestArenaInBytes =
        best ? best->arenaInBytes : scheduled.plainArenaInBytes;
    unmet.lowerLimitInBytes = solution.budgetLowerLimit;
    unmet.isSmallest =
        searches ||
        unmet.smallestArenaInBytes <=
            (int64_t)llvm::alignTo(unmet.lowerLimitInBytes, kBufferAlignment);
    describeLimit(graph, unmet);
    return unmet;
  }

private:
  StepGraph graphOf(StepOp step) const {
    StepGraph graph = buildStepGraph(step, device);
    if (options.allowsOffload)
      addOffloadCosts(graph, device);
    return graph;
  }

  int64_t effort() const {
    return std::max<int64_t>(options.effort, 1); // 0 would be the default
  }

  /// A packed step.
  struct Candidate {
    planning::Schedule schedule;
    OwningOpRef<StepOp> step;
    std::vector<Repeat> repeats;
    int64_t arenaInBytes = 0;
    double addedTimeInNanoseconds = 0;
    TransferTimes transfers;
  };

  /// Takes the plan if it can be packed into the budget; returns whether it
  /// did.
  bool take(const planning::LadderPlan &plan) {
    std::optional<planning::Schedule> schedule = scheduleFrom(plan);
    if (!schedule)
      return false;
    Candidate candidate = applyWithin(budget, *schedule);
    if (candidate.arenaInBytes < 0 || candidate.arenaInBytes > budget)
      return false;
    best = std::move(candidate);
    return true;
  }

  /// If a plan is packed above the budget, this looks for one that needs less.
  planning::RecomputeSolution takeAny() {
    constexpr int kMostTries = 4;
    planning::RecomputeOptions search;
    search.effort = effort();
    search.findSmallestBudget = search.findBound = false;
    search.anyWillDo = true;
    search.budgetInBytes = budget;
    planning::RecomputeSolution solution;
    for (int i = 0; i < kMostTries && !error && !best; ++i) {
      solution = *planning::solveRecompute(graph.problem, search);
      if (!solution.found ||
          take({solution.schedule, solution.peakInBytes, solution.addedCost}))
        break;
      search.budgetInBytes -= std::max<int64_t>(1, budget / 64);
    }
    return solution;
  }

  /// Returns the schedule of the step, or nothing after an error.
  std::optional<planning::Schedule>
  scheduleFrom(const planning::LadderPlan &plan) {
    if (error || (error = planning::verify(graph.problem, plan.schedule,
                                           plan.peakInBytes)))
      return std::nullopt;
    planning::Schedule schedule = groupByKernel(graph, plan.schedule);
    auto cost = planning::simulate(graph.problem, schedule);
    if (!cost) {
      error = cost.error();
      return std::nullopt;
    }
    return schedule;
  }

  /// Whether the budget is below the lower limit, and the step as it is so
  /// little above that a search would find next to nothing.
  bool isCloseTo(int64_t lowerLimit) const {
    return budget < lowerLimit &&
           scheduled.plainArenaInBytes - lowerLimit <= options.slackInBytes;
  }

  /// Finds the smallest arena. It does not depend on the budget, so that a user
  /// can ask for the number in an error. The plan with the least peak need not
  /// be the one that packs best.
  void findSmallest() {
    takeIfSmaller(ladder->leastPlan());
    for (int index = ladder->rungAbove(ladder->leastPlan().peakInBytes);
         index >= 0 && !error &&
         (!best || ladder->budgetOf(index) < best->arenaInBytes);
         --index)
      takeIfSmaller(ladder->planOf(index));
  }

  void takeIfSmaller(const planning::LadderPlan &plan) {
    if (!plan.found())
      return;
    std::optional<planning::Schedule> schedule = scheduleFrom(plan);
    if (!schedule)
      return;
    std::optional<int64_t> capacity;
    if (best)
      capacity = best->arenaInBytes - kBufferAlignment;
    Candidate candidate = apply(*schedule, capacity, /*room=*/0);
    if (candidate.arenaInBytes >= 0 &&
        candidate.arenaInBytes < scheduled.plainArenaInBytes &&
        (!best || candidate.arenaInBytes < best->arenaInBytes))
      best = std::move(candidate);
  }

  /// Keeps the bound of the whole budget, which holds for every arena within
  /// it.
  void keepBound(planning::Certificate &certificate) {
    claim.certificate = std::move(certificate);
    if (claim.certificate.isEmpty())
      return;
    if (auto bound = planning::checkCertificate(graph.problem, budget,
                                                claim.certificate))
      scheduled.lowerBoundInNanoseconds = *bound;
    else
      error = bound.error(); // from the solver or the checker
    const planning::Certificate &prices = claim.certificate;
    double sum =
        std::accumulate(prices.prices.begin(), prices.prices.end(), 0.0);
    scheduled.nanosecondsPerByte =
        std::ldexp(sum, -prices.priceShift - prices.costShift);
  }

  ScheduledStep finish(Candidate &best) {
    claim.schedule = std::move(best.schedule);
    planning::ScheduleCost cost =
        *planning::simulate(graph.problem, claim.schedule);
    double total = graph.problem.totalCost();
    claim.budgetInBytes = budget;
    claim.peakInBytes = cost.peakInBytes;
    claim.addedPercent = total > 0 ? 100 * cost.addedCost / total : 0;
    claim.lowerBoundPercent =
        total > 0 ? 100 * scheduled.lowerBoundInNanoseconds / total : 0;
    scheduled.step = std::move(best.step);
    scheduled.repeats = std::move(best.repeats);
    scheduled.arenaInBytes = best.arenaInBytes;
    scheduled.addedTimeInNanoseconds = best.addedTimeInNanoseconds;
    scheduled.transfers = best.transfers;
    scheduled.problemText = planning::printProblem(graph.problem);
    scheduled.planText = planning::printPlan(claim);
    return std::move(scheduled);
  }

  /// Transfers use the free memory in order to overlap with work. If packing
  /// fails, they get less of it, and in the end none.
  Candidate applyWithin(int64_t target, const planning::Schedule &schedule) {
    Candidate candidate = apply(schedule, target, target);
    if (llvm::none_of(schedule, planning::isReload))
      return candidate;
    int64_t excess = candidate.arenaInBytes - target;
    if (excess > 0)
      candidate = apply(schedule, target, target - excess);
    if (candidate.arenaInBytes > target)
      candidate = apply(schedule, target, 0);
    return candidate;
  }

  /// Applies the schedule with transfers that may hold memory up to `room`
  /// because they begin early or end late.
  Candidate apply(planning::Schedule schedule, std::optional<int64_t> target,
                  int64_t room) {
    Candidate candidate;
    candidate.step = cast<StepOp>(step->clone());
    StepGraph copy = graphOf(*candidate.step);
    candidate.repeats = applySchedule(copy, schedule);
    placeTransfers(*candidate.step, device, room);
    for (const Repeat &repeat : candidate.repeats)
      candidate.addedTimeInNanoseconds += repeat.costInNanoseconds;
    candidate.arenaInBytes = readsWhatHasChanged(candidate)
                                 ? -1
                                 : placeTensors(*candidate.step, target);
    candidate.transfers = timeTransfers(*candidate.step, device);
    candidate.schedule = std::move(schedule);
    return candidate;
  }

  /// Whether a repeat between two updates would read a parameter that the first
  /// one has written.
  static bool readsWhatHasChanged(Candidate &candidate) {
    llvm::SmallPtrSet<Operation *, 32> repeats;
    for (const Repeat &repeat : candidate.repeats)
      repeats.insert(repeat.op);
    llvm::DenseSet<Attribute> written;
    for (Operation &op : candidate.step->getBody().front()) {
      if (repeats.contains(&op) && readsAnyOf(&op, written))
        return true;
      for (FlatSymbolRefAttr variable : variablesWritten(&op))
        written.insert(variable);
    }
    return false;
  }

  StepOp step;
  const DeviceModel &device;
  StepScheduleOptions options;
  int64_t budget;
  StepGraph graph;
  planning::MaybeError error;
  planning::BudgetLadder *ladder = nullptr; ///< For a checked problem.
  ScheduledStep scheduled;
  std::optional<Candidate> best;
  planning::PlanClaim claim;
};

} // namespace

std::variant<ScheduledStep, UnmetBudget, planning::Error>
train::scheduleStep(StepOp step, const DeviceModel &device,
                    const StepScheduleOptions &options,
                    planning::LadderStore &ladders) {
  return StepScheduler(step, device, options, ladders).run();
}
