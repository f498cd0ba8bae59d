//===- PackArena.h - Packs an arena -----------------------------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs an arena: by first-fit in several orders, and then by a search if the
// result is higher than the largest load.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_ARENA_PACKARENA_H
#define GPUOPT_PLANNING_ARENA_PACKARENA_H

#include "gpuopt/Planning/Arena/ArenaProblem.h"

#include <optional>

namespace gpuopt::planning {

struct PackOptions {
  /// Steps of the search after first-fit. The same effort gives the same
  /// packing; 0 means first-fit alone.
  int64_t effort = 200000;
  /// The height that suffices. If there is none, the lowest packing is
  /// searched.
  std::optional<int64_t> capacityInBytes;
  /// If true, the search aims at exactly the capacity. If false, it is the
  /// search for the lowest packing, and ends when the capacity is met: then
  /// whatever meets a small capacity also meets a larger one.
  bool aimsAtCapacity = true;
  /// Ends the search early. The packing then depends on the speed of the
  /// machine.
  std::optional<double> timeLimitInSeconds;
};

struct Packing {
  ArenaSolution solution;
  int64_t lowerLimitInBytes = 0; ///< No packing is lower.
  bool isOptimal() const { return solution.height == lowerLimitInBytes; }
};

/// Packs the arena as low as the effort allows. Returns an error only if the
/// problem's `check` does: a capacity that was not met is no error.
Result<Packing> packArena(const ArenaProblem &problem,
                          const PackOptions &options = {});

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_ARENA_PACKARENA_H
