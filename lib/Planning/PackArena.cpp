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

namespace {
/// Searches below one packing after another.
class Improver {
public:
  Improver(const ArenaProblem &problem, const PackOptions &options,
           Packing &packing, int64_t enough)
      : options(options), packing(packing), enough(enough), search(problem),
        nodesLeft(options.effort), start(std::chrono::steady_clock::now()) {}

  /// Tries the lowest height first, then halves what is left between it and
  /// the best packing, with more effort in each round.
  void run() {
    int64_t lowest = enough, nodes = 2000;
    while (packing.solution.height > enough && !isOver()) {
      if (attempt(lowest, nodes)) {
        lowest = enough;
        continue;
      }
      int64_t gap = packing.solution.height - lowest;
      bool isNarrow = gap <= std::max<int64_t>(1, enough / 2000);
      if (options.capacityInBytes || isNarrow) {
        lowest = enough; // nothing in between is worth another round
        nodes *= 2;
      } else {
        lowest += (gap + 1) / 2;
      }
    }
  }

private:
  bool attempt(int64_t height, int64_t nodes) {
    for (int i = 0; i < 2 * CanonicalSearch::preferences; ++i) {
      int64_t granted = std::min(nodes, nodesLeft), left = granted;
      std::optional<ArenaSolution> found =
          search.run(height, CanonicalSearch::Order(i % 2),
                     CanonicalSearch::Preference(i / 2), seed, left,
                     [&] { return isOver(); });
      nodesLeft -= granted - std::max<int64_t>(left, 0);
      if (found && found->height < packing.solution.height) {
        packing.solution = *found;
        return true;
      }
      if (isOver())
        return false;
    }
    ++seed;
    return false;
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
  CanonicalSearch search;
  int64_t nodesLeft;
  uint64_t seed = 0;
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
