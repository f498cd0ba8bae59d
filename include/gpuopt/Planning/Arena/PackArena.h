//===- PackArena.h - Packs an arena -----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The way to pack an arena: first-fits in several orders, then a search where
// they leave a gap to the largest load.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_ARENA_PACKARENA_H
#define GPUOPT_PLANNING_ARENA_PACKARENA_H

#include "gpuopt/Planning/Arena/ArenaProblem.h"

#include <optional>

namespace gpuopt::planning {

struct PackOptions {
  /// Steps of the search after the first-fits: the same effort gives the same
  /// packing. 0 means the first-fits alone.
  int64_t effort = 200000;
  /// Any packing at most this high will do; without it, the lowest.
  std::optional<int64_t> capacityInBytes;
  /// With it, the search is for packings of just the capacity. Without, it is
  /// the search for the lowest, ended early: a larger capacity is met by
  /// whatever met a smaller one.
  bool aimsAtCapacity = true;
  /// Ends the search early. Packings then depend on the machine's speed.
  std::optional<double> timeLimitInSeconds;
};

struct Packing {
  ArenaSolution solution;
  int64_t lowerLimitInBytes = 0; ///< No packing is lower.
  bool isOptimal() const { return solution.height == lowerLimitInBytes; }
};

/// Packs the arena as low as the effort allows. An error only where the
/// problem's `check` has one: a capacity that was not met is no error.
Result<Packing> packArena(const ArenaProblem &problem,
                          const PackOptions &options = {});

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_ARENA_PACKARENA_H
