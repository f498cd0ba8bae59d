//===- BudgetLadder.cpp - Plans that get no dearer with memory ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/BudgetLadder.h"
#include "Graph.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt::planning;

static constexpr int rungsPerHalving = 100;

/// Of the rungs, these are anchors.
static constexpr int stride = 10;

/// What a search gets of the effort: that of an anchor, a plan that is made
/// from the one for a smaller budget, and a step towards the least peak.
static constexpr int shareOfAnchor = 2, shareOfRise = 2, shareOfDescent = 8;

/// A plan that is so close to its bound, relatively, needs nothing from below;
/// one that is so far from it is tried from whatever lies below.
static constexpr double closeToBound = 1.02, farFromBound = 1.3;

/// The least peak is looked for to this part of the plain peak.
static constexpr int partOfLeast = 2048;

/// Bounds are proven in integers, a little below what they could be.
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

/// What a plan costs that is proven to be the cheapest.
bool BudgetLadder::Bound::proves(double cost, int64_t budget) const {
  return cost <= 0 || at(budget) >= cost * roundedDown;
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

const BudgetLadder::Anchor &BudgetLadder::search(int index) {
  auto [entry, isNew] = anchors.try_emplace(index);
  Anchor &anchor = entry->second;
  if (!isNew)
    return anchor;
  RecomputeOptions own = optionsFor(budgetOf(index), shareOfAnchor);
  own.isRoughBound = true;
  RecomputeSolution solution = *solveRecompute(problem, own);
  anchor.bound = {own.budgetInBytes, solution.lowerBound,
                  costPerByte(solution.certificate)};
  anchor.plan = planIn(solution);
  return anchor;
}

/// A plan within a larger budget, made from `plan`; no dearer.
LadderPlan BudgetLadder::rise(const LadderPlan &plan, int64_t budget) const {
  if (plan.addedCost <= 0)
    return plan;
  RecomputeOptions own = optionsFor(budget, shareOfRise);
  own.findBound = false;
  own.start = plan.schedule;
  RecomputeSolution solution = *solveRecompute(problem, own);
  return planIn(solution);
}

/// What an anchor's plan may begin with, beside its own search: what the search
/// of the anchor below has found; that one's plan, made in this way, where its
/// own is far from the bound; and the plan with the least peak where it has
/// none.
const LadderPlan *BudgetLadder::startFor(int index) {
  const Anchor &own = search(index);
  double cost = own.plan.addedCost, bound = own.bound.lowerBound;
  if (budgetOf(index) < lowerLimit ||
      (own.plan.found() && cost <= closeToBound * bound))
    return nullptr;
  const LadderPlan *start = nullptr;
  if (own.plan.found())
    start = cost > farFromBound * bound ? &anchorPlan(index + stride)
                                        : &search(index + stride).plan;
  if (!start || !start->found())
    start = &leastPlan();
  return start->peakInBytes <= budgetOf(index) ? start : nullptr;
}

const LadderPlan &BudgetLadder::anchorPlan(int index) {
  auto found = anchorPlans.find(index);
  if (found != anchorPlans.end())
    return found->second;
  LadderPlan plan = search(index).plan;
  if (const LadderPlan *start = startFor(index)) {
    LadderPlan other = rise(*start, budgetOf(index));
    if (!plan.found() || other.addedCost < plan.addedCost)
      plan = std::move(other);
  }
  return anchorPlans[index] = std::move(plan);
}

/// The cheapest plan of this anchor and what is below, as far down as something
/// cheaper can be.
const LadderPlan &BudgetLadder::bestFrom(int index) {
  const LadderPlan *best = &anchorPlan(index);
  if (!best->found())
    return *best;
  for (int i = index; anchorPlan(i).found(); i += stride) {
    if (anchorPlan(i).addedCost < best->addedCost)
      best = &anchorPlan(i);
    if (search(i).bound.proves(best->addedCost, budgetOf(i + stride)))
      return *best;
  }
  return leastPlan().addedCost < best->addedCost ? leastPlan() : *best;
}

/// Between anchors, rungs get their plans by bisection, each from the plan of
/// the lower end; no plan is dearer than that, nor cheaper than at the upper
/// end.
const LadderPlan &BudgetLadder::planOf(int index) {
  int upper = index / stride * stride, lower = upper + stride;
  const LadderPlan *plan = &bestFrom(upper);
  if (index == upper)
    return *plan;
  const LadderPlan *dear = &bestFrom(lower);
  if (!dear->found())
    dear = &leastPlan();
  while (upper != index) {
    int middle = (upper + lower) / 2;
    auto [entry, isNew] = plans.try_emplace(middle);
    LadderPlan &between = entry->second;
    if (isNew && dear->found() && dear->peakInBytes <= budgetOf(middle)) {
      if (dear->addedCost > plan->addedCost)
        between = rise(*dear, budgetOf(middle));
      if (!between.found() || between.addedCost < plan->addedCost)
        between = *dear;
    }
    if (middle <= index) {
      upper = middle;
      plan = &between;
    } else {
      lower = middle;
      if (between.found())
        dear = &between;
    }
  }
  return *plan;
}

/// By bisection, as if all above one that is met were.
int BudgetLadder::lowestMetAnchor() {
  int met = 0, unmet = rungAbove(lowerLimit) / stride + 1;
  while (unmet - met > 1) {
    int middle = met + (unmet - met) / 2;
    (search(middle * stride).plan.found() ? met : unmet) = middle;
  }
  return met * stride;
}

const LadderPlan &BudgetLadder::leastPlan() {
  if (least)
    return *least;
  int from = lowestMetAnchor();
  LadderPlan plan = search(from).plan;
  int64_t gap = budgetOf(from) - budgetOf(from + stride);
  while (gap > plainPeak / partOfLeast && plan.peakInBytes > lowerLimit) {
    RecomputeOptions own = optionsFor(
        std::max(lowerLimit, plan.peakInBytes - gap), shareOfDescent);
    own.findBound = false;
    own.anyWillDo = true;
    own.start = plan.schedule;
    RecomputeSolution solution = *solveRecompute(problem, own);
    if (solution.found)
      plan = planIn(solution);
    else
      gap /= 2;
  }
  least = std::move(plan);
  return *least;
}

//===----------------------------------------------------------------------===//
// Budgets
//===----------------------------------------------------------------------===//

/// The first that is accepted, from the rung at the budget down: none below is
/// cheaper.
const LadderPlan *BudgetLadder::choose(int64_t budget, const Accepts &accepts) {
  auto isGood = [&](const LadderPlan &plan) {
    return plan.peakInBytes <= budget && (!accepts || accepts(plan));
  };
  const LadderPlan *last = nullptr;
  for (int index = rungAbove(budget); budgetOf(index) >= lowerLimit; ++index) {
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
  own.effort = 1; // the bound alone
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
