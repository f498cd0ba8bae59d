//===- SolveRecompute.cpp - Plans recomputation under a budget ------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Recompute/SolveRecompute.h"
#include "Recompute/Bound/PriceSearch.h"
#include "Recompute/Nested/NestedPlans.h"
#include "Recompute/Search/DropOnDemand.h"
#include "Recompute/Search/LocalSearch.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

using namespace gpuopt::planning;

/// Larger graphs have only one stage for each op.
static constexpr int mostOpsForWideStages = 200;

/// The number of cuts of a rough bound. With fewer, cuts miss plans that
/// searches from them do not find.
static constexpr int mostCutsOfRoughBound = 60;

/// The cuts that are read, two of each flow, even if there is no time for them.
static constexpr int cutsInNoTime = 40;

/// In larger graphs the dynamic program over segments takes seconds.
static constexpr int mostOpsForNestedPlans = 50'000;

namespace {
class Clock {
public:
  explicit Clock(std::optional<double> limit) : limit(limit) {}
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() -
                                         start)
        .count();
  }
  /// Whether this share of the time is used up.
  bool isOver(double share = 1) const {
    return limit && seconds() >= *limit * share;
  }

private:
  std::optional<double> limit;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

/// A plan with which a search begins.
struct Start {
  BestSchedule best;
  std::vector<Slot> closest; ///< The repeats that are least over budget.
  int64_t closestExcess = INT64_MAX;
};

class Solver {
public:
  Solver(const RecomputeProblem &problem, const RecomputeOptions &options)
      : problem(problem), options(options), graph(problem),
        clock(options.timeLimitInSeconds), narrow(problem, 1),
        trial(narrow.graph(), options.budgetInBytes) {
    if (graph.size() <= mostOpsForWideStages)
      wide.emplace(problem, 3);
    for (int i = 0; i < std::max(1, options.threads); ++i) {
      narrowSearches.emplace_back(narrow, options.budgetInBytes,
                                  options.seed + i);
      if (wide)
        wideSearches.emplace_back(*wide, options.budgetInBytes,
                                  options.seed + i);
    }
  }

  RecomputeSolution run();

private:
  void startFromGaps();
  void startNested();
  void boundAndStart(double share);
  void improve();
  void annealOnThreads(std::vector<LocalSearch> &searches,
                       const std::vector<Slot> &start, int64_t moves,
                       double heat, BestSchedule &line);
  void findSmallestBudget();
  void offerStart();
  bool offer(const std::vector<Slot> &repeats, Start &start);
  void certify(const TimeExpandedCut &cut, const Prices &prices,
               RecomputeSolution &solution) const;

  const RecomputeProblem &problem;
  const RecomputeOptions &options;
  Graph graph;
  Clock clock;
  SearchSpace narrow;
  std::optional<SearchSpace> wide;
  std::vector<LocalSearch> narrowSearches, wideSearches; ///< One per thread.
  StagePlan trial;
  /// The best start without nested plans, and the one with them in case the
  /// first finds nothing.
  Start plain, nested;
  BestSchedule best;
  int64_t smallestPeak = 0;
  IntegerScale scale;
  RecomputeSolution solution;
};
} // namespace

/// Notes the plan as a start; returns whether it is within the budget.
bool Solver::offer(const std::vector<Slot> &repeats, Start &start) {
  if (repeats.empty())
    return false;
  trial.reset(repeats);
  if (trial.excess() == 0 && start.best.wouldTake(trial.addedCost()))
    start.best.offer(trial.addedCost(), narrow.scheduleOf(trial));
  smallestPeak = std::min(smallestPeak, trial.peak());
  if (trial.excess() < start.closestExcess) {
    start.closestExcess = trial.excess();
    start.closest = repeats;
  }
  return trial.excess() == 0;
}

/// Writes the flow to the certificate. The network begins at the first time
/// point that matters, the certificate's at the first one after the op.
void Solver::certify(const TimeExpandedCut &cut, const Prices &prices,
                     RecomputeSolution &solution) const {
  Certificate &certificate = solution.certificate;
  certificate = {};
  certificate.timePoints = prices.timePoints;
  certificate.prices = prices.prices;
  certificate.costShift = scale.costShift;
  certificate.priceShift = scale.priceShift;
  for (size_t i = 0; i < cut.arcs().size(); ++i) {
    CutArc arc = cut.arcs()[i];
    int64_t amount = cut.flow(i);
    if (amount == 0)
      continue;
    if (arc.kind == CutArc::Recompute) {
      int first = std::upper_bound(prices.timePoints.begin(),
                                   prices.timePoints.end(), arc.op) -
                  prices.timePoints.begin();
      if (first < arc.timePoint)
        certificate.flows.push_back(
            {CutArc::Monotone, arc.op, first, arc.timePoint, amount});
      arc.timePoint = first;
    }
    certificate.flows.push_back(
        {arc.kind, arc.op, arc.timePoint, arc.other, amount});
  }
}

/// Starts from plans that drop everything that is not used soon.
void Solver::startFromGaps() {
  std::vector<char> all(graph.size(), true);
  for (int gap = 0; gap < graph.size(); gap = 2 * gap + 1)
    if (!clock.isOver(0.2))
      offer(dropByGap(graph, all, gap), plain);
}

/// Starts from nested plans, for budgets that no other plan meets. Their peaks
/// are estimates, so several plans are tried around the one that is estimated
/// to fit.
void Solver::startNested() {
  constexpr int around = 8;
  if (graph.size() > mostOpsForNestedPlans || clock.isOver(0.4))
    return;
  NestedPlans plans(graph, options.budgetInBytes);
  int tooLarge = -1, fits = plans.size();
  while (fits - tooLarge > 1) {
    int middle = tooLarge + (fits - tooLarge) / 2;
    (offer(plans.plan(middle), nested) ? fits : tooLarge) = middle;
  }
  int end = std::min(plans.size(), fits + around);
  for (int i = std::max(0, fits - around); i < end && !clock.isOver(0.5); ++i)
    offer(plans.plan(i), nested);
}

/// Proves a bound and offers the plans of its cuts. Other plans can be very far
/// from the best ones in large graphs, so however short the time is, there are
/// some cuts until one gives a plan within the budget.
void Solver::boundAndStart(double share) {
  int count = graph.size() <= 200     ? 100
              : graph.size() <= 2000  ? 40
              : graph.size() <= 20000 ? 6
                                      : 1;
  if (options.isRoughBound)
    count = std::min(count, std::max(8, 50'000 / graph.size()));
  std::vector<int> timePoints = chooseTimePoints(graph, graph.plainProfile(),
                                                 options.budgetInBytes, count);
  if (timePoints.empty())
    return;
  scale = IntegerScale(graph.totalCost, plainPeak(problem));
  TimeExpandedCut cut(graph, timePoints, options.budgetInBytes, scale);
  PriceSearchOptions search;
  int64_t networkSize = int64_t(graph.size()) * timePoints.size();
  search.cuts = std::clamp<int64_t>(20'000'000 / networkSize, 40, 1000);
  if (options.isRoughBound)
    search.cuts = std::min(search.cuts, mostCutsOfRoughBound);
  search.bestPlanCost = [&] {
    return plain.best.found ? plain.best.addedCost : -1.;
  };
  int cuts = 0;
  bool hasPlan = false;
  search.onCut = [&](TimeExpandedCut &cut) {
    ++cuts;
    hasPlan |= offer(dropByCut(graph, cut), plain);
  };
  search.isOver = [&] {
    return (hasPlan || cuts >= cutsInNoTime) && clock.isOver(share);
  };
  Prices prices = searchPrices(
      graph, cut, scale, std::vector<int64_t>(timePoints.size(), 0), search);
  double bound = std::ldexp(double(prices.bound), -scale.costShift);
  if (bound > solution.lowerBound) {
    solution.lowerBound = bound;
    cut.solve(prices.prices);
    certify(cut, prices, solution);
  }
  // Higher prices drop more than the bound needs, until a plan is within the
  // budget.
  for (double factor = 1; factor < 16 && !search.isOver(); factor *= 1.1) {
    std::vector<int64_t> raised;
    for (int64_t price : prices.prices)
      raised.push_back(std::min<double>(double(price) * factor, 0x1p60));
    cut.solve(raised);
    for (bool preferResident : {false, true}) {
      cut.readCut(preferResident);
      ++cuts;
      hasPlan |= offer(dropByCut(graph, cut), plain);
    }
  }
}

/// Runs rounds of annealing, longer and longer, in two independent lines: some
/// graphs need a high temperature and others a low one, and a single line stays
/// near the optimum that it found first. For the same reason the second line
/// begins with nested plans, and the first one only if it finds nothing. If
/// nested plans are not within the budget, they are still the closest to it in
/// larger graphs.
void Solver::improve() {
  int64_t moves = std::clamp<int64_t>(60 * graph.size(), 500, 20000);
  int64_t left = options.effort;
  bool isTimed = options.timeLimitInSeconds.has_value();
  if (left == 0)
    left = isTimed ? INT64_MAX : defaultEffort;
  static constexpr double heats[2][4] = {{0.2, 0.2, 0.05, 1},
                                         {0.3, 0.3, 0.3, 0.3}};
  BestSchedule lines[2] = {plain.best, nested.best};
  bool isApart = wide || nested.best.found;
  for (int round = 0; left > 0 && !clock.isOver(); ++round) {
    BestSchedule &line = lines[round / 4 % 2];
    if (round > 4 && !line.found)
      line = nested.best;
    const Start &begin = round < 4 && isApart ? plain : nested;
    moves = std::min(moves, left);
    left -= moves;
    bool isWide = wide && round / 2 % 2;
    const SearchSpace &space = isWide ? *wide : narrow;
    std::vector<Slot> start = space.fromPlain(begin.closest);
    if (line.found)
      start = space.repeatsOf(line.schedule).value_or(start);
    annealOnThreads(isWide ? wideSearches : narrowSearches, start, moves,
                    heats[round / 4 % 2][round % 4], line);
    if (round % 8 == 7)
      moves *= 2;
    if (options.anyWillDo && line.found)
      break;
  }
  for (BestSchedule &line : lines)
    if (line.found)
      best.offer(line.addedCost, std::move(line.schedule));
}

/// Threads search in parallel from the same start. The best result, the first
/// among equal ones, is kept.
void Solver::annealOnThreads(std::vector<LocalSearch> &searches,
                             const std::vector<Slot> &start, int64_t moves,
                             double heat, BestSchedule &line) {
  std::vector<BestSchedule> results(searches.size(), line);
  auto anneal = [&](size_t i) {
    searches[i].anneal(start, moves, heat, results[i], [&] {
      return clock.isOver() || (options.anyWillDo && results[i].found);
    });
  };
  std::vector<std::thread> threads;
  for (size_t i = 1; i < searches.size(); ++i)
    threads.emplace_back(anneal, i);
  anneal(0);
  for (std::thread &thread : threads)
    thread.join();
  for (BestSchedule &result : results)
    if (result.found)
      line.offer(result.addedCost, std::move(result.schedule));
}

/// If no plan is within the budget, lowers the least peak of the known
/// schedules by searching below it as long as that succeeds.
void Solver::findSmallestBudget() {
  int64_t smallest = smallestPeak, limit = solution.budgetLowerLimit;
  while (smallest > limit && !clock.isOver(2)) {
    int64_t budget = limit + (smallest - limit) / 2;
    LocalSearch search(narrow, budget, 1);
    BestSchedule found;
    int64_t moves = std::clamp<int64_t>(2000 * graph.size(), 20000, 200000);
    search.anneal(nested.closest, moves, 0.2, found,
                  [&] { return clock.isOver(2) || found.found; });
    if (!found.found)
      break;
    smallest = simulate(problem, withoutStaleRepeats(problem, found.schedule))
                   ->peakInBytes;
  }
  solution.smallestBudgetFound = smallest;
}

RecomputeSolution Solver::run() {
  solution.budgetLowerLimit = budgetLowerLimit(graph);
  smallestPeak = plainPeak(problem);
  if (smallestPeak <= options.budgetInBytes) {
    best.offer(0, plainOrder(problem));
  } else {
    if (options.start.empty())
      startFromGaps();
    nested = plain;
    if (solution.budgetLowerLimit <= options.budgetInBytes) {
      offerStart();
      if (options.findBound)
        boundAndStart(0.4);
      nested = plain;
      if (options.start.empty() && !plain.best.found)
        startNested();
      improve();
    }
    if (!best.found && options.findSmallestBudget)
      findSmallestBudget();
  }
  solution.found = best.found;
  if (best.found) {
    solution.schedule = withoutStaleRepeats(problem, best.schedule);
    ScheduleCost cost = *simulate(problem, solution.schedule);
    solution.peakInBytes = cost.peakInBytes;
    solution.addedCost = cost.addedCost;
    solution.lowerBound = std::min(solution.lowerBound, cost.addedCost);
  }
  return std::move(solution);
}

/// Offers the caller's schedule if it is valid: as a plan if it is within the
/// budget, otherwise as a start, which may be closer to the budget than others.
void Solver::offerStart() {
  if (options.start.empty())
    return;
  Result<ScheduleCost> cost = simulate(problem, options.start);
  if (!cost)
    return;
  if (cost->peakInBytes <= options.budgetInBytes)
    plain.best.offer(cost->addedCost, options.start);
  else if (auto repeats = narrow.repeatsOf(options.start))
    offer(*repeats, plain);
}

/// Offloading makes the search harder. So if the plan is not close to its
/// bound, a search without offloading may find a cheaper one.
static void tryWithoutOffload(RecomputeProblem problem,
                              RecomputeOptions options,
                              RecomputeSolution &solution) {
  constexpr double closeEnough = 1.01;
  if (solution.found && solution.addedCost <= closeEnough * solution.lowerBound)
    return;
  for (RecomputeOp &op : problem.ops)
    op.offloadCost.reset();
  options.findSmallestBudget = false;
  RecomputeSolution other = Solver(problem, options).run();
  if (!other.found || (solution.found && solution.addedCost <= other.addedCost))
    return;
  solution.found = true;
  solution.schedule = std::move(other.schedule);
  solution.peakInBytes = other.peakInBytes;
  solution.addedCost = other.addedCost;
  solution.lowerBound = std::min(solution.lowerBound, solution.addedCost);
}

Result<RecomputeSolution>
gpuopt::planning::solveRecompute(const RecomputeProblem &problem,
                                 const RecomputeOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  if (std::none_of(problem.ops.begin(), problem.ops.end(),
                   [](const RecomputeOp &op) { return op.offloadCost; }))
    return Solver(problem, options).run();
  // Two thirds of the time go to the first search and one third to the second,
  // or all of the effort and half of it.
  RecomputeOptions first = options, second = options;
  if (options.timeLimitInSeconds) {
    first.timeLimitInSeconds = *options.timeLimitInSeconds * 2 / 3;
    second.timeLimitInSeconds = *options.timeLimitInSeconds / 3;
  }
  second.effort = options.effort ? std::max<int64_t>(1, options.effort / 2) : 0;
  RecomputeSolution solution = Solver(problem, first).run();
  if (options.start.empty())
    tryWithoutOffload(problem, second, solution);
  return solution;
}
