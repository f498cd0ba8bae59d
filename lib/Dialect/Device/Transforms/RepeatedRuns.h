//===- RepeatedRuns.h - Where a sequence repeats itself ---------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_REPEATEDRUNS_H
#define GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_REPEATEDRUNS_H

#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace gpuopt::device {

/// `period` items of a sequence that occur `iterations` times in a row, from
/// item `first` on. The run could as well begin at any of the `slack` items
/// after `first`.
struct RepeatedRun {
  unsigned first = 0, period = 0, iterations = 0, slack = 0;

  unsigned size() const { return period * iterations; }
  /// Returns how many items need not be written when the run is a loop.
  unsigned saved() const { return period * (iterations - 1); }
};

/// Returns the run of at least `leastIterations` iterations within `items` that
/// saves most when it becomes a loop; among equal ones, the one with the
/// shortest period, and then the first. It has 0 iterations if nothing repeats.
/// Items are equal if their numbers are. Takes time in proportion to the items
/// times the longest period, 1024 items.
RepeatedRun findLongestRun(llvm::ArrayRef<unsigned> items,
                           unsigned leastIterations);

/// Returns runs that do not overlap, in the order of the sequence: the one that
/// saves most, and then those in what is left on either side of it, each of
/// which saves at least `leastSaved` items. `align` may move a run within its
/// slack: it returns the number of items to move it by.
std::vector<RepeatedRun>
findRepeatedRuns(llvm::ArrayRef<unsigned> items, unsigned leastIterations,
                 unsigned leastSaved,
                 llvm::function_ref<unsigned(const RepeatedRun &)> align);

} // namespace gpuopt::device

#endif // GPUOPT_LIB_DIALECT_DEVICE_TRANSFORMS_REPEATEDRUNS_H
