//===- PackArena.cpp - Packs an arena -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// First-fit in several orders comes first. Then two searches alternate: one
// over all buffers, and one over the large buffers only, after which the small
// ones are put into the gaps. Often a few dozen large buffers decide, and
// hundreds of small ones would mislead the search. Each of the two consists of
// many short searches over all time points and of one that goes through them in
// order.
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Arena/PackArena.h"
#include "CanonicalSearch.h"
#include "FirstFit.h"
#include "WindowSearch.h"

#include <algorithm>
#include <chrono>
#include <memory>

using namespace gpuopt::planning;

/// Limits the arenas that are searched. The search recurses once per buffer and
/// looks at all buffers in each step. Larger arenas are packed by first-fit
/// alone.
static constexpr size_t mostBuffersToSearch = 3000;

/// The steps of each search's first round; later rounds are longer.
static constexpr int64_t stepsOfFirstRound = 6000;
static constexpr int64_t growthOfRounds = 3;

/// Returns 1, 1, 2, 1, 1, 2, 4, ...: how long restarts should be if nothing is
/// known (Luby, Sinclair, Zuckerman 1993). `i` counts from 1.
static int64_t luby(int64_t i) {
  int64_t power = 1;
  while (2 * power - 1 < i)
    power *= 2;
  return 2 * power - 1 == i ? power : luby(i - (power - 1));
}

namespace {
/// The steps and the time that are left.
class Effort {
public:
  explicit Effort(const PackOptions &options)
      : limit(options.timeLimitInSeconds), stepsLeft(options.effort),
        start(std::chrono::steady_clock::now()) {}

  bool isOver() const {
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    return stepsLeft <= 0 || (limit && passed.count() >= *limit);
  }

  std::optional<double> limit;
  int64_t stepsLeft;

private:
  std::chrono::steady_clock::time_point start;
};

/// The heights that end a search.
struct Goal {
  int64_t lowest = 0;     ///< The height that a search aims at.
  int64_t enough = 0;     ///< A height that is good enough, at least `lowest`.
  bool anyWillDo = false; ///< Whether any such packing ends it.
};

/// Searches for packings that are lower than the best one, in many short runs.
class Improver {
public:
  Improver(const ArenaProblem &problem, ArenaSolution first, const Goal &goal,
           Effort &effort)
      : best(std::move(first)), goal(goal), effort(effort), shortRuns(problem),
        longRuns(problem), windows(problem), wanted(best.height - goal.lowest) {
  }

  const ArenaSolution &getBest() const { return best; }

  /// Tries the lowest height first. The gain that is aimed at halves with each
  /// failure and doubles with each success; when it becomes too small, the
  /// search begins again with more runs. Continues where it was when `steps`
  /// were used up.
  void run(int64_t steps) {
    stepsOfRound = std::min(steps, effort.stepsLeft);
    while (best.height > goal.enough && !isOver()) {
      int64_t most = best.height - goal.lowest;
      wanted = std::min(wanted, most);
      if (attempt(best.height - wanted, runs)) {
        wanted *= 2;
        continue;
      }
      wanted /= 2;
      if (goal.anyWillDo || wanted < std::max<int64_t>(1, goal.lowest / 2000)) {
        wanted = most;
        runs *= 2;
      }
    }
  }

private:
  /// Short runs learn from each other's conflicts. One in eight is longer and
  /// learns only from its own kind. The window search, which is useless if
  /// there is no packing, gets twice as many steps if any packing will do, and
  /// otherwise half as many.
  bool attempt(int64_t height, int runs) {
    for (int i = 1; i <= runs && !isOver(); ++i) {
      int64_t before = stepsOfRound;
      bool found = i % 8 != 0 ? runOnce(shortRuns, height, 3000)
                              : runOnce(longRuns, height, 24000 * luby(i / 8));
      int64_t used = before - stepsOfRound;
      int64_t end = stepsOfRound - (goal.anyWillDo ? 2 * used : used / 2);
      while (!found && stepsOfRound > end && !isOver())
        found = advanceWindow(height);
      if (found)
        return true;
    }
    return false;
  }

  struct Runs {
    explicit Runs(const ArenaProblem &problem) : search(problem) {}
    CanonicalSearch search;
    uint64_t count = 0;
  };

  bool runOnce(Runs &runs, int64_t height, int64_t nodes) {
    int64_t granted = std::min(nodes, stepsOfRound), left = granted;
    uint64_t number = runs.count++;
    auto preference =
        CanonicalSearch::Preference(number % CanonicalSearch::preferences);
    std::optional<ArenaSolution> found = runs.search.run(
        height, preference, number / CanonicalSearch::preferences, left,
        [&] { return isOver(); });
    return take(found, granted - std::max<int64_t>(left, 0));
  }

  bool advanceWindow(int64_t height) {
    int64_t left = stepsOfRound;
    std::optional<ArenaSolution> found =
        windows.advance(height, left, [&] { return isOver(); });
    return take(found, stepsOfRound - left);
  }

  bool take(std::optional<ArenaSolution> &found, int64_t steps) {
    stepsOfRound -= steps;
    effort.stepsLeft -= steps;
    if (!found || found->height >= best.height)
      return false;
    best = std::move(*found);
    return true;
  }

  bool isOver() const { return stepsOfRound <= 0 || effort.isOver(); }

  ArenaSolution best;
  Goal goal;
  Effort &effort;
  Runs shortRuns, longRuns;
  WindowSearch windows;
  int64_t stepsOfRound = 0;
  int64_t wanted; ///< Bytes below the best packing, positive.
  int runs = 8;
};

/// A search for the places of the buffers above a size; the others go into the
/// gaps.
class LargeFirst {
public:
  LargeFirst(const ArenaProblem &problem, int64_t smallSize, const Goal &goal,
             Effort &effort)
      : problem(problem) {
    ArenaProblem small;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      bool isSmall = problem.buffers[i].sizeInBytes <= smallSize;
      (isSmall ? small : large).buffers.push_back(problem.buffers[i]);
      (isSmall ? rest : chosen).push_back(i);
    }
    std::sort(rest.begin(), rest.end(), [&](int a, int b) {
      return std::pair(-problem.buffers[a].sizeInBytes, a) <
             std::pair(-problem.buffers[b].sizeInBytes, b);
    });
    Goal own = goal;
    own.lowest =
        std::max(heightLowerLimit(large), goal.lowest - largestLoad(small));
    own.enough = small.buffers.empty() ? goal.enough : own.lowest;
    std::vector<int> order;
    improver = std::make_unique<Improver>(
        large, packFirstFits(large, own.lowest, order), own, effort);
  }

  void run(int64_t steps) { improver->run(steps); }

  /// Returns a packing of all buffers. Placing them again in the order of their
  /// offsets moves no large one up.
  ArenaSolution pack() const {
    const std::vector<int64_t> &offsets = improver->getBest().offsets;
    std::vector<std::pair<int64_t, int>> byOffset;
    for (size_t i = 0; i < chosen.size(); ++i)
      byOffset.emplace_back(offsets[i], chosen[i]);
    std::sort(byOffset.begin(), byOffset.end());
    std::vector<int> order;
    for (auto [offset, index] : byOffset)
      order.push_back(index);
    order.insert(order.end(), rest.begin(), rest.end());
    return packFirstFit(problem, order);
  }

private:
  const ArenaProblem &problem;
  ArenaProblem large;
  std::vector<int> chosen, rest; ///< Indices of large and small buffers.
  std::unique_ptr<Improver> improver;
};
} // namespace

/// Returns the sizes up to which buffers may count as small: none, and as many
/// as have a largest load of at most these parts of `height`.
static std::vector<int64_t> smallSizes(const ArenaProblem &problem,
                                       int64_t height) {
  std::vector<int64_t> sizes;
  for (const Buffer &buffer : problem.buffers)
    sizes.push_back(buffer.sizeInBytes);
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  auto loadUpTo = [&](int64_t size) {
    ArenaProblem small;
    for (const Buffer &buffer : problem.buffers)
      if (buffer.sizeInBytes <= size)
        small.buffers.push_back(buffer);
    return largestLoad(small);
  };
  std::vector<int64_t> result{0};
  for (int64_t part : {1024, 256, 64, 16}) {
    auto above =
        std::partition_point(sizes.begin(), sizes.end(), [&](int64_t size) {
          return loadUpTo(size) <= height / part;
        });
    if (above != sizes.begin() && above != sizes.end() &&
        above[-1] > result.back())
      result.push_back(above[-1]);
  }
  return result;
}

static void improve(const ArenaProblem &problem, const PackOptions &options,
                    const Goal &goal, ArenaSolution &best) {
  Effort effort(options);
  std::vector<std::unique_ptr<LargeFirst>> searches;
  for (int64_t size : smallSizes(problem, goal.lowest))
    searches.push_back(
        std::make_unique<LargeFirst>(problem, size, goal, effort));
  int64_t steps = stepsOfFirstRound;
  while (!effort.isOver()) {
    int64_t before = effort.stepsLeft;
    for (const auto &search : searches) {
      search->run(steps);
      ArenaSolution next = search->pack();
      if (next.height < best.height)
        best = std::move(next);
      if (best.height <= goal.enough)
        return;
    }
    if (effort.stepsLeft == before)
      return; // each has reached its goal
    steps *= growthOfRounds;
  }
}

Result<Packing> gpuopt::planning::packArena(const ArenaProblem &problem,
                                            const PackOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  Packing packing;
  packing.lowerLimitInBytes = heightLowerLimit(problem);
  Goal goal;
  goal.enough =
      std::max(packing.lowerLimitInBytes, options.capacityInBytes.value_or(0));
  goal.anyWillDo = options.capacityInBytes && options.aimsAtCapacity;
  goal.lowest = goal.anyWillDo ? goal.enough : packing.lowerLimitInBytes;
  std::vector<int> order;
  packing.solution = packFirstFits(problem, goal.enough, order);
  if (packing.solution.height > goal.enough && options.effort > 0 &&
      problem.buffers.size() <= mostBuffersToSearch)
    improve(problem, options, goal, packing.solution);
  return packing;
}
