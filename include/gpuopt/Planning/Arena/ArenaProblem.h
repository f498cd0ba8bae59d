//===- ArenaProblem.h - Offsets for buffers in one arena --------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The problem of packing buffers with known lifetimes into one arena of the
// lowest height (dynamic storage allocation; NP-hard, Garey and Johnson SR2),
// its solutions, and limits that hold for every solution. Lifetimes are
// half-open: [0, 3) and [3, 5) may share bytes. All sizes and offsets are
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_PLANNING_ARENA_ARENAPROBLEM_H
#define GPUOPT_PLANNING_ARENA_ARENAPROBLEM_H

#include "gpuopt/Planning/Result.h"

#include <cstdint>
#include <vector>

namespace gpuopt::planning {

/// A range of bytes that nothing else may use during [lower, upper).
struct Buffer {
  int64_t lower = 0;
  int64_t upper = 0; ///< One past the last time point.
  int64_t sizeInBytes = 0;
  int64_t alignment = 1; ///< The offset is a multiple of this.

  bool meets(const Buffer &other) const {
    return lower < other.upper && other.lower < upper;
  }
};

struct ArenaProblem {
  std::vector<Buffer> buffers;

  /// Checks that lifetimes are not empty, sizes not negative and alignments
  /// positive, and that no sum of sizes and alignments overflows.
  MaybeError check() const;
};

struct ArenaSolution {
  std::vector<int64_t> offsets; ///< One per buffer, in the problem's order.
  int64_t height = 0;           ///< The largest offset + size.
};

/// Returns the largest sum of sizes that are alive at one time point. No arena
/// is lower.
int64_t largestLoad(const ArenaProblem &problem);

/// Returns a lower limit of the height that considers alignment. If all
/// alignments are equal, sizes can be rounded up to it without making any
/// packing higher, except for the buffer at the top. So the limit is the
/// largest load of the rounded sizes, less the most that rounding can add to
/// the topmost buffer.
int64_t heightLowerLimit(const ArenaProblem &problem);

/// Returns what is wrong with the solution, if anything. Compares every pair of
/// buffers and shares no code with the solvers.
MaybeError verify(const ArenaProblem &problem, const ArenaSolution &solution);

} // namespace gpuopt::planning

#endif // GPUOPT_PLANNING_ARENA_ARENAPROBLEM_H
