//===- WindowSearch.h - Packs an arena time point by time point -*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A search over all buffers of a tight arena has to guess many places correctly
// at once, although buffers that never meet hardly matter to each other. Here a
// window grows by one time point after another. Each search within it follows
// the packing of the window before, except for the buffers around one time
// point, which is drawn anew for each try: a large neighbourhood search (Shaw,
// CP 1998) along time.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_ARENA_WINDOWSEARCH_H
#define GPUOPT_LIB_PLANNING_ARENA_WINDOWSEARCH_H

#include "CanonicalSearch.h"
#include "Random.h"

#include <memory>

namespace gpuopt::planning {

class WindowSearch {
public:
  explicit WindowSearch(const ArenaProblem &problem);

  /// Grows the window up to its next failure, and returns a packing at most
  /// `capacityInBytes` high once it covers all time points. The next call
  /// continues there; with another capacity it starts again. `steps` is counted
  /// down.
  std::optional<ArenaSolution> advance(int64_t capacityInBytes, int64_t &steps,
                                       const std::function<bool()> &isOver);

private:
  void begin(int first);
  void beginNext();
  void grow();
  void showWindow();
  bool fill(int64_t &steps, const std::function<bool()> &isOver);
  std::vector<int64_t> drawGuide();
  ArenaSolution solution() const;

  const ArenaProblem &problem;
  std::vector<int64_t> timePoints, loads;
  std::vector<int64_t>
      packed; ///< Offsets in the last packing; -1 if not in it.
  Random random{1};
  int64_t capacity = -1;
  int starts = 0;

  // The window: its time points [first, last), its buffers clipped to them, and
  // their indices in the problem.
  int first = 0, last = 0;
  ArenaProblem shown;
  std::vector<int> indices;
  std::unique_ptr<CanonicalSearch> search; ///< Searches `shown`.
  int tries = 0;                           ///< Tries that failed.
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_ARENA_WINDOWSEARCH_H
