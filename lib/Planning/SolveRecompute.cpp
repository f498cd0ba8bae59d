//===- SolveRecompute.cpp - Plans recomputation under a budget ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/SolveRecompute.h"
#include "DropOnDemand.h"
#include "LocalSearch.h"
#include "PriceSearch.h"

#include <algorithm>
#include <chrono>
#include <cmath>

using namespace gpuopt::planning;

/// Larger graphs have room in one stage per op.
static constexpr int mostOpsForWideStages = 200;

namespace {
class Clock {
public:
  explicit Clock(std::optional<double> limit) : limit(limit) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  /// Whether this share of the time is over.
  bool isOver(double share = 1) const {
    return limit && seconds() >= *limit * share;
  }

private:
  std::optional<double> limit;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

class Solver {
public:
  Solver(const RecomputeProblem &problem, const RecomputeOptions &options)
      : problem(problem), options(options), graph(problem),
        clock(options.timeLimitInSeconds), narrow(problem, 1),
        trial(narrow.graph(), options.budgetInBytes) {
    spaces.push_back(&narrow);
    if (graph.size() <= mostOpsForWideStages) {
      wide.emplace(problem, 3);
      spaces.push_back(&*wide);
    }
    for (const SearchSpace *space : spaces)
      searches.emplace_back(*space, options.budgetInBytes, 1);
  }

  RecomputeSolution run();

private:
  void startFromGaps();
  void boundAndStart(double share);
  void improve(double share);
  void offer(const std::vector<Slot> &repeats);
  void certify(const TimeExpandedCut &cut, const Prices &prices,
               RecomputeSolution &solution) const;

  const RecomputeProblem &problem;
  const RecomputeOptions &options;
  Graph graph;
  Clock clock;
  SearchSpace narrow;
  std::optional<SearchSpace> wide;
  std::vector<const SearchSpace *> spaces;
  std::vector<LocalSearch> searches; ///< One per space.
  StagePlan trial;
  BestSchedule best;
  std::vector<Slot> closest; ///< The start with the least excess.
  int64_t closestExcess = INT64_MAX;
  IntegerScale scale;
  RecomputeSolution solution;
};
} // namespace

void Solver::offer(const std::vector<Slot> &repeats) {
  if (repeats.empty())
    return;
  trial.reset(repeats);
  if (trial.excess() == 0 && best.wouldTake(trial.addedCost()))
    best.offer(trial.addedCost(), narrow.scheduleOf(trial));
  if (trial.excess() < closestExcess) {
    closestExcess = trial.excess();
    closest = repeats;
  }
}

/// Writes the flow down. The network begins at the first moment that matters;
/// the certificate's at the first after the op.
void Solver::certify(const TimeExpandedCut &cut, const Prices &prices,
                     RecomputeSolution &solution) const {
  Certificate &certificate = solution.certificate;
  certificate = {};
  certificate.moments = prices.moments;
  certificate.prices = prices.prices;
  certificate.costShift = scale.costShift;
  certificate.priceShift = scale.priceShift;
  for (size_t i = 0; i < cut.arcs().size(); ++i) {
    CutArc arc = cut.arcs()[i];
    int64_t amount = cut.flow(i);
    if (amount == 0)
      continue;
    if (arc.kind == CutArc::Recompute) {
      int first = std::upper_bound(prices.moments.begin(), prices.moments.end(),
                                   arc.op) -
                  prices.moments.begin();
      if (first < arc.moment)
        certificate.flows.push_back(
            {CutArc::Monotone, arc.op, first, arc.moment, amount});
      arc.moment = first;
    }
    certificate.flows.push_back(
        {arc.kind, arc.op, arc.moment, arc.other, amount});
  }
}

/// Everything that is not used soon is dropped.
void Solver::startFromGaps() {
  std::vector<char> all(graph.size(), true);
  for (int gap = 0; gap < graph.size(); gap = 2 * gap + 1)
    if (!clock.isOver(0.2))
      offer(dropByGap(graph, all, gap));
}

void Solver::boundAndStart(double share) {
  int count = graph.size() <= 200     ? 100
              : graph.size() <= 2000  ? 40
              : graph.size() <= 20000 ? 6
                                      : 1;
  std::vector<int> moments =
      chooseMoments(graph, graph.plainProfile(), options.budgetInBytes, count);
  if (moments.empty())
    return;
  scale = IntegerScale(graph.totalCost, plainPeak(problem));
  TimeExpandedCut cut(graph, moments, options.budgetInBytes, scale);
  PriceSearchOptions search;
  search.bestPlanCost = [&] { return best.found ? best.addedCost : -1.; };
  search.onCut = [&](TimeExpandedCut &cut) { offer(dropByCut(graph, cut)); };
  search.isOver = [&] { return clock.isOver(share); };
  Prices prices = searchPrices(graph, cut, scale,
                               std::vector<int64_t>(moments.size(), 0), search);
  double bound = std::ldexp(double(prices.bound), -scale.costShift);
  if (bound > solution.lowerBound) {
    solution.lowerBound = bound;
    cut.solve(prices.prices);
    certify(cut, prices, solution);
  }
  // Higher prices drop more than the bound asks for: plans that fit.
  for (double factor = 1; factor < 16 && !clock.isOver(share); factor *= 1.1) {
    std::vector<int64_t> raised;
    for (int64_t price : prices.prices)
      raised.push_back(std::min<double>(double(price) * factor, 0x1p60));
    cut.solve(raised);
    for (bool preferResident : {false, true}) {
      cut.readCut(preferResident);
      offer(dropByCut(graph, cut));
    }
  }
}

void Solver::improve(double share) {
  int64_t moves = std::clamp<int64_t>(60 * graph.size(), 500, 20000);
  int64_t left = options.effort;
  auto isOver = [&] { return clock.isOver(share); };
  for (int round = 0; !isOver(); ++round) {
    if (options.effort > 0)
      moves = std::min(moves, left);
    if (moves <= 0)
      return;
    size_t which = round % 2 ? searches.size() - 1 : 0;
    std::vector<Slot> start = spaces[which]->fromPlain(closest);
    if (best.found)
      start = spaces[which]->repeatsOf(best.schedule).value_or(start);
    searches[which].anneal(start, moves, round % 4 > 1 ? 0.1 : 1, best, isOver);
    left -= moves;
    if (!options.timeLimitInSeconds && options.effort == 0 && round >= 10)
      return;
    if (round % 4 == 3)
      moves *= 2;
    if (getenv("TRACE"))
      fprintf(stderr, "%.2fs round %d moves %ld best %.4f%%\n", clock.seconds(),
              round, moves,
              best.found ? 100 * best.addedCost / graph.totalCost : -1.);
  }
}

RecomputeSolution Solver::run() {
  solution.budgetLowerLimit = budgetLowerLimit(graph);
  offer({});
  closest = {};
  if (plainPeak(problem) <= options.budgetInBytes) {
    best.offer(0, plainOrder(problem));
  } else if (solution.budgetLowerLimit <= options.budgetInBytes) {
    startFromGaps();
    boundAndStart(0.4);
    if (getenv("TRACE"))
      fprintf(stderr, "%.2fs bound %.4f%% best %.4f%%\n", clock.seconds(),
              100 * solution.lowerBound / graph.totalCost,
              best.found ? 100 * best.addedCost / graph.totalCost : -1.);
    improve(1);
  }
  solution.found = best.found;
  if (best.found) {
    solution.schedule = best.schedule;
    ScheduleCost cost = *simulate(problem, solution.schedule);
    solution.peakInBytes = cost.peakInBytes;
    solution.addedCost = cost.addedCost;
  }
  return std::move(solution);
}

Result<RecomputeSolution>
gpuopt::planning::solveRecompute(const RecomputeProblem &problem,
                                 const RecomputeOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  return Solver(problem, options).run();
}
