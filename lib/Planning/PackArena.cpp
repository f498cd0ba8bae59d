//===- PackArena.cpp - Packs an arena -------------------------------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/PackArena.h"
#include "CanonicalSearch.h"
#include "FirstFit.h"

#include <algorithm>
#include <chrono>

using namespace gpuopt::planning;

/// The search recurses once per buffer and looks at all of them in each step,
/// so it is for arenas of this size; larger ones have first-fits alone.
static constexpr size_t mostBuffersToSearch = 3000;

/// 1, 1, 2, 1, 1, 2, 4, ...: how long restarts should be where nothing is known
/// (Luby, Sinclair, Zuckerman 1993). `i` counts from 1.
static int64_t luby(int64_t i) {
  int64_t power = 1;
  while (2 * power - 1 < i)
    power *= 2;
  return 2 * power - 1 == i ? power : luby(i - (power - 1));
}

namespace {
/// Searches below one packing after another, in many short runs.
class Improver {
public:
  Improver(const ArenaProblem &problem, const PackOptions &options,
           Packing &packing, int64_t enough)
      : options(options), packing(packing), enough(enough), shortRuns(problem),
        longRuns(problem), nodesLeft(options.effort),
        start(std::chrono::steady_clock::now()) {}

  /// Tries the lowest height first, then halves what is left between it and
  /// the best packing, and begins again with more runs.
  void run() {
    int64_t lowest = enough;
    int runs = 32;
    while (packing.solution.height > enough && !isOver()) {
      if (attempt(lowest, runs)) {
        lowest = enough;
        continue;
      }
      int64_t gap = packing.solution.height - lowest;
      bool isNarrow = gap <= std::max<int64_t>(1, enough / 1000);
      if (options.capacityInBytes || isNarrow) {
        lowest = enough;
        runs *= 2;
      } else {
        lowest += (gap + 1) / 2;
      }
    }
  }

private:
  /// Short runs learn from each other's conflicts; one in eight is longer and
  /// keeps to its own kind.
  bool attempt(int64_t height, int runs) {
    for (int i = 1; i <= runs && !isOver(); ++i) {
      bool found = i % 8 != 0 ? runOnce(shortRuns, height, 3000)
                              : runOnce(longRuns, height, 24000 * luby(i / 8));
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
    int64_t granted = std::min(nodes, nodesLeft), left = granted;
    uint64_t number = runs.count++;
    auto preference =
        CanonicalSearch::Preference(number % CanonicalSearch::preferences);
    std::optional<ArenaSolution> found = runs.search.run(
        height, preference, number / CanonicalSearch::preferences, left,
        [&] { return isOver(); });
    nodesLeft -= granted - std::max<int64_t>(left, 0);
    if (!found || found->height >= packing.solution.height)
      return false;
    packing.solution = *found;
    return true;
  }

  bool isOver() const {
    std::chrono::duration<double> passed =
        std::chrono::steady_clock::now() - start;
    return nodesLeft <= 0 || (options.timeLimitInSeconds &&
                              passed.count() >= *options.timeLimitInSeconds);
  }

  const PackOptions &options;
  Packing &packing;
  int64_t enough;
  Runs shortRuns, longRuns;
  int64_t nodesLeft;
  std::chrono::steady_clock::time_point start;
};
} // namespace

Result<Packing> gpuopt::planning::packArena(const ArenaProblem &problem,
                                            const PackOptions &options) {
  if (MaybeError error = problem.check())
    return *error;
  Packing packing;
  packing.lowerLimitInBytes = heightLowerLimit(problem);
  int64_t enough =
      std::max(packing.lowerLimitInBytes, options.capacityInBytes.value_or(0));
  std::vector<int> order;
  packing.solution = packFirstFits(problem, enough, order);
  if (packing.solution.height > enough && options.effort > 0 &&
      problem.buffers.size() <= mostBuffersToSearch)
    Improver(problem, options, packing, enough).run();
  return packing;
}
