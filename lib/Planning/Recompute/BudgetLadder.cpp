//===- BudgetLadder.cpp - Plans that get no dearer with memory ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/BudgetLadder.h"
#include "Recompute/Graph.h"
#include "Recompute/Search/LeastPeak.h"

#include <algorithm>
#include <cmath>
#include <future>

using namespace gpuopt::planning;

/// One anchor of this many is searched by itself.
static constexpr int anchorsPerSearch = 2;

/// How often a sweep goes down and up again, over anchors and over the rungs
/// between two of them.
static constexpr int roundsOfSweep = 3;

/// A sweep ends after this many budgets without a plan.
static constexpr int mostUnmet = 2;

/// By how much the effort is divided for an anchor, for each step of a sweep,
/// and for each step towards the least peak.
static constexpr int shareOfAnchor = 4, shareOfSweep = 10, shareOfDescent = 8;

/// Graphs with fewer ops make fewer moves in a step of a sweep.
static constexpr size_t opsOfWholeSweep = 600;

/// Plans within this factor of their bound are not improved.
static constexpr double closeToBound = 1.01;

/// Bounds are proven in integers, which are a little below the exact bounds.
static constexpr double roundedDown = 1 - 1e-9;

BudgetLadder::BudgetLadder(const RecomputeProblem &problem,
                           RecomputeOptions options)
    : problem(problem), options(std::move(options)),
      plainPeak(planning::plainPeak(problem)),
      lowerLimit(budgetLowerLimit(Graph(problem))) {
  this->options.start.clear();
  this->options.timeLimitInSeconds.reset();
  if (this->options.effort <= 0)
    this->options.effort = defaultEffort;
}

int64_t BudgetLadder::budgetOf(int index) const {
  int halvings = index / rungsPerHalving;
  int steps = 2 * rungsPerHalving - index % rungsPerHalving;
  if (halvings > 62)
    return 0;
  return int64_t(__int128(plainPeak) * steps / (2 * rungsPerHalving) >>
                 halvings);
}

bool BudgetLadder::isOnLadder(int index) const {
  return budgetOf(index) >= std::max<int64_t>(1, lowerLimit);
}

int BudgetLadder::rungAbove(int64_t budget) const {
  int index = 0;
  while (budgetOf(index + 1) >= budget && budgetOf(index + 1) > 0)
    ++index;
  return index;
}

RecomputeOptions BudgetLadder::optionsFor(int64_t budget, int share) const {
  RecomputeOptions own = options;
  own.budgetInBytes = budget;
  own.findSmallestBudget = false;
  own.effort = std::max<int64_t>(1, options.effort / share);
  return own;
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static double costPerByte(const Certificate &proof) {
  double prices = 0;
  for (int64_t price : proof.prices)
    prices += double(price);
  return std::ldexp(prices, -proof.priceShift - proof.costShift);
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static LadderPlan planIn(RecomputeSolution &solution) {
  if (!solution.found)
    return {};
  return {std::move(solution.schedule), solution.peakInBytes,
          solution.addedCost};
}

/// Makes a plan for this budget from one for another budget. If the start is
/// within this budget, the result is not dearer.
LadderPlan BudgetLadder::anneal(const LadderPlan &start, int64_t budget,
                                uint64_t seed) {
  if (start.addedCost <= 0 && start.peakInBytes <= budget)
    return start;
  RecomputeOptions own = optionsFor(budget, shareOfSweep);
  own.effort = std::max<int64_t>(
      1, own.effort * std::min(problem.ops.size(), opsOfWholeSweep) /
             opsOfWholeSweep);
  own.findBound = false;
  own.start = start.schedule;
  own.seed = seed;
  RecomputeSolution solution = *solveRecompute(problem, own);
  return planIn(solution);
}

/// Offers the plan to every rung that it is within, which takes it if it is
/// cheaper.
void BudgetLadder::offer(const LadderPlan &plan, const Range &range) const {
  if (!plan.found() || plan.addedCost < range.leastCost)
    return;
  for (int i = 0; i < range.count; ++i) {
    LadderPlan &own = range.plans[i];
    if (plan.peakInBytes <= budgetOf(range.firstRung + i * range.step) &&
        (!own.found() || plan.addedCost < own.addedCost))
      own = plan;
  }
}

/// Whether these bounds prove that no plan within the budget is cheaper.
bool BudgetLadder::isProven(double cost, int64_t budget,
                            const std::vector<Bound> &bounds) const {
  return cost <= 0 ||
         std::any_of(bounds.begin(), bounds.end(), [&](const Bound &bound) {
           return bound.at(budget) >= cost * roundedDown;
         });
}

/// Sweeps down from the first plan and up again, each time with other random
/// numbers.
void BudgetLadder::sweep(const Range &range, const std::vector<Bound> &bounds) {
  uint64_t seed = uint64_t(range.firstRung) << 32;
  auto improve = [&](int index, const LadderPlan &start) {
    int rung = range.firstRung + index * range.step;
    int64_t budget = budgetOf(rung);
    const LadderPlan &plan = range.plans[index];
    ++seed;
    if (start.found() && isOnLadder(rung) &&
        !(plan.found() &&
          isProven(plan.addedCost / closeToBound, budget, bounds)))
      offer(anneal(start, budget, seed), range);
  };
  for (int round = 0; round < roundsOfSweep; ++round) {
    LadderPlan start = range.plans[0];
    for (int i = 1, unmet = 0; i < range.count && unmet < mostUnmet; ++i) {
      improve(i, start);
      bool isMet = range.plans[i].found();
      unmet = isMet ? 0 : unmet + 1;
      if (isMet)
        start = range.plans[i];
    }
    for (int i = range.count - 1; i-- > 0;)
      improve(i, LadderPlan(range.plans[i + 1]));
  }
}

//===----------------------------------------------------------------------===//
// Anchors
//===----------------------------------------------------------------------===//

/// Searches anchors in parallel, since none depends on another.
void BudgetLadder::searchAnchors(int first, const Range &range,
                                 Halving &halving) {
  std::vector<std::future<RecomputeSolution>> searches;
  for (int i = first; i < anchorsPerHalving; i += anchorsPerSearch) {
    int rung = range.firstRung + i * stride;
    if (!isOnLadder(rung))
      break;
    searches.push_back(std::async([this, rung] {
      RecomputeOptions own = optionsFor(budgetOf(rung), shareOfAnchor);
      own.isRoughBound = true;
      return *solveRecompute(problem, own);
    }));
  }
  for (size_t i = 0; i < searches.size(); ++i) {
    RecomputeSolution solution = searches[i].get();
    int rung = range.firstRung + (first + int(i) * anchorsPerSearch) * stride;
    halving.bounds.push_back({budgetOf(rung), solution.lowerBound,
                              costPerByte(solution.certificate)});
    offer(planIn(solution), range);
  }
}

const BudgetLadder::Halving &BudgetLadder::halving(int index) {
  while (int(halvings.size()) <= index) {
    int firstRung = int(halvings.size()) * rungsPerHalving;
    Halving next;
    if (halvings.empty())
      next.plans[0] = {plainOrder(problem), plainPeak, 0};
    else
      next.plans[0] = halvings.back().plans.back();
    Range range{next.plans.data(), anchorsPerHalving + 1, firstRung, stride, 0};
    searchAnchors(halvings.empty() ? anchorsPerSearch : 0, range, next);
    sweep(range, next.bounds);
    halvings.push_back(std::move(next));
  }
  return halvings[index];
}

const LadderPlan &BudgetLadder::anchorPlan(int index) {
  return halving(index / rungsPerHalving)
      .plans[index % rungsPerHalving / stride];
}

/// Returns the cheapest plan of this anchor and those below, going down as long
/// as something cheaper is possible.
const LadderPlan &BudgetLadder::bestFrom(int index) {
  const LadderPlan *best = &anchorPlan(index);
  for (int i = index; isOnLadder(i); i += stride) {
    const LadderPlan &plan = anchorPlan(i), &below = anchorPlan(i + stride);
    if (plan.found() && (!best->found() || plan.addedCost < best->addedCost))
      best = &plan;
    const std::vector<Bound> &bounds =
        halving((i + stride) / rungsPerHalving).bounds;
    if (best->found() && below.found() &&
        isProven(best->addedCost, budgetOf(i + stride), bounds))
      return *best;
  }
  const LadderPlan &last = bottom().plans[0];
  bool isWithin = last.found() && index <= bottom().anchor;
  return isWithin && (!best->found() || last.addedCost < best->addedCost)
             ? last
             : *best;
}

//===----------------------------------------------------------------------===//
// Rungs
//===----------------------------------------------------------------------===//

/// The plans between two anchors are not cheaper than that of the upper one,
/// and not dearer than that of the lower one.
const std::array<LadderPlan, BudgetLadder::stride> &
BudgetLadder::plansBetween(int anchor) {
  const LadderPlan &dear = bestFrom(anchor + stride);
  if (!dear.found() && bottom().anchor == anchor)
    return bottom().plans;
  auto [entry, isNew] = between.try_emplace(anchor);
  std::array<LadderPlan, stride> &plans = entry->second;
  if (!isNew)
    return plans;
  plans[0] = bestFrom(anchor);
  if (!dear.found())
    return plans;
  Range range{plans.data(), stride, anchor, 1,
              std::min(plans[0].addedCost, dear.addedCost)};
  offer(plans[0], range);
  offer(dear, range);
  if (dear.addedCost > closeToBound * plans[0].addedCost)
    sweep(range, halving(anchor / rungsPerHalving).bounds);
  return plans;
}

const LadderPlan &BudgetLadder::planOf(int index) {
  int anchor = index / stride * stride;
  const LadderPlan &plan =
      index == anchor ? bestFrom(anchor) : plansBetween(anchor)[index - anchor];
  if (plan.found() || !isOnLadder(index) ||
      leastPlan().peakInBytes > budgetOf(index))
    return plan;
  return leastPlan(); // far below the lowest anchor
}

//===----------------------------------------------------------------------===//
// The least peak
//===----------------------------------------------------------------------===//

/// Sweeps the rungs from the lowest anchor with a plan downwards, as between
/// two anchors.
const BudgetLadder::Bottom &BudgetLadder::bottom() {
  if (lowest)
    return *lowest;
  lowest.emplace();
  if (problem.ops.empty())
    return *lowest;
  for (int i = 0; isOnLadder(i); i += stride)
    if (anchorPlan(i).found())
      lowest->anchor = i;
  auto &plans = lowest->plans;
  Range range{plans.data(), stride, lowest->anchor, 1, 0};
  plans[0] = anchorPlan(lowest->anchor);
  sweep(range, halving(lowest->anchor / rungsPerHalving).bounds);
  const LadderPlan last =
      *std::find_if(plans.rbegin(), plans.rend(),
                    [](const LadderPlan &plan) { return plan.found(); });
  int64_t rung = budgetOf(lowest->anchor) - budgetOf(lowest->anchor + 1);
  RecomputeSolution least;
  least.found = true;
  least.schedule = last.schedule;
  least.peakInBytes = last.peakInBytes;
  least.addedCost = last.addedCost;
  least = lowerPeak(problem, std::move(least), rung,
                    [&] { return optionsFor(0, shareOfDescent); });
  lowest->least = anneal(planIn(least), least.peakInBytes, options.seed);
  offer(lowest->least, range);
  if (lowest->least.peakInBytes < last.peakInBytes)
    sweep(range, halving(lowest->anchor / rungsPerHalving).bounds);
  return *lowest;
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

/// Returns the first plan that is accepted, from the rung at the budget down,
/// by growing cost.
const LadderPlan *BudgetLadder::choose(int64_t budget, const Accepts &accepts) {
  auto isGood = [&](const LadderPlan &plan) {
    return plan.peakInBytes <= budget && (!accepts || accepts(plan));
  };
  const LadderPlan *last = nullptr;
  for (int index = rungAbove(budget); isOnLadder(index); ++index) {
    const LadderPlan &plan = planOf(index);
    if (!plan.found())
      break;
    if (last && last->schedule == plan.schedule)
      continue;
    if (isGood(plan))
      return &plan;
    last = &plan;
  }
  return leastPlan().found() && isGood(leastPlan()) ? &leastPlan() : nullptr;
}

RecomputeSolution BudgetLadder::solve(int64_t budget, const Accepts &accepts) {
  RecomputeOptions own = optionsFor(budget, 1);
  own.effort = 1; // only the bound is needed
  RecomputeSolution result = *solveRecompute(problem, own);
  if (plainPeak <= budget && !accepts)
    return result;
  const LadderPlan *best =
      budget < lowerLimit ? nullptr : choose(budget, accepts);
  result.found = best != nullptr;
  if (!best) {
    result.schedule.clear();
    result.peakInBytes = 0;
    result.addedCost = 0;
    result.smallestBudgetFound =
        options.findSmallestBudget ? leastPlan().peakInBytes : 0;
    return result;
  }
  result.schedule = best->schedule;
  result.peakInBytes = best->peakInBytes;
  result.addedCost = best->addedCost;
  result.lowerBound = std::min(result.lowerBound, best->addedCost);
  return result;
}
