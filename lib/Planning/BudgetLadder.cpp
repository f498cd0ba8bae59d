//===- BudgetLadder.cpp - Plans that get no dearer with memory ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/BudgetLadder.h"
#include "Graph.h"

#include <cmath>

using namespace gpuopt::planning;

static constexpr int rungsPerHalving = 100;

/// So many rungs in a row that are not met end the way down.
static constexpr int mostUnmet = 2;

/// Each rung gets at least this fraction of the effort.
static constexpr int leastShare = 8;

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

/// The lowest rung that is at least the budget.
int BudgetLadder::firstRungFor(int64_t budget) const {
  int index = 0;
  while (budgetOf(index + 1) >= budget && budgetOf(index + 1) > 0)
    ++index;
  return index;
}

/// What the rung's prices prove for another budget: the bound is linear in it.
double BudgetLadder::Rung::boundAt(int64_t otherBudget) const {
  const Certificate &proof = solution.certificate;
  double prices = 0;
  for (int64_t price : proof.prices)
    prices += double(price);
  return solution.lowerBound +
         std::ldexp(prices, -proof.priceShift - proof.costShift) *
             double(budgetInBytes - otherBudget);
}

/// How many rungs below could hold a cheaper plan, as far as the bound tells.
int BudgetLadder::rungsWorthwhile(const Rung &rung, int index) const {
  int count = 0;
  while (count < leastShare - 1) {
    int64_t below = budgetOf(index + count + 1);
    if (below < lowerLimit || rung.boundAt(below) >= rung.solution.addedCost)
      break;
    ++count;
  }
  return count;
}

/// A rung gets the more effort the fewer rungs below could do better: those
/// that could are searched as well.
const BudgetLadder::Rung &BudgetLadder::solveRung(int index) {
  auto [entry, isNew] = rungs.try_emplace(budgetOf(index));
  Rung &rung = entry->second;
  if (!isNew)
    return rung;
  RecomputeOptions own = options;
  rung.budgetInBytes = own.budgetInBytes = budgetOf(index);
  own.findSmallestBudget = false;
  own.effort = std::max<int64_t>(1, options.effort / leastShare);
  RecomputeSolution &solution = rung.solution = *solveRecompute(problem, own);
  if (!solution.found) {
    own.effort = options.effort;
    solution = *solveRecompute(problem, own);
    return rung;
  }
  int64_t whole = options.effort / (1 + rungsWorthwhile(rung, index));
  if (whole <= own.effort)
    return rung;
  own.start = solution.schedule;
  own.findBound = false;
  own.effort = whole - own.effort;
  RecomputeSolution better = *solveRecompute(problem, own);
  if (better.addedCost < solution.addedCost) {
    solution.schedule = std::move(better.schedule);
    solution.peakInBytes = better.peakInBytes;
    solution.addedCost = better.addedCost;
  }
  return rung;
}

/// The plan of one rung, with the proof of another.
RecomputeSolution BudgetLadder::combine(int64_t budgetInBytes, const Rung &plan,
                                        const Rung &proof) const {
  RecomputeSolution result = plan.solution;
  result.certificate = proof.solution.certificate;
  result.lowerBound = 0;
  if (!result.certificate.isEmpty())
    if (Result<double> bound =
            checkCertificate(problem, budgetInBytes, result.certificate))
      result.lowerBound = std::min(*bound, result.addedCost);
  return result;
}

RecomputeSolution BudgetLadder::solve(int64_t budgetInBytes) {
  const Rung *best = nullptr, *proof = nullptr, *last = nullptr;
  int unmet = 0;
  for (int index = firstRungFor(budgetInBytes); unmet < mostUnmet; ++index) {
    if (best && last->boundAt(budgetOf(index)) >= best->solution.addedCost)
      break; // nothing below is cheaper
    if (last && (budgetOf(index) == 0 || budgetOf(index) < lowerLimit))
      break;
    if (last && budgetOf(index) == last->budgetInBytes)
      continue;
    const Rung &rung = solveRung(index);
    const RecomputeSolution &solution = rung.solution;
    bool isBetter = solution.found && solution.peakInBytes <= budgetInBytes &&
                    (!best || solution.addedCost < best->solution.addedCost);
    if (isBetter)
      best = &rung;
    if (!proof || rung.boundAt(budgetInBytes) > proof->boundAt(budgetInBytes))
      proof = &rung;
    unmet = solution.found ? 0 : unmet + 1;
    last = &rung;
  }
  if (best)
    return combine(budgetInBytes, *best, *proof);
  RecomputeOptions own = options;
  own.budgetInBytes = budgetInBytes;
  return *solveRecompute(problem, own);
}
