//===- ArenaProblem.cpp - Offsets for buffers in one arena ----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "gpuopt/Planning/Arena/ArenaProblem.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace gpuopt::planning;

MaybeError ArenaProblem::check() const {
  int64_t room = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < buffers.size(); ++i) {
    const Buffer &buffer = buffers[i];
    auto error = [&](const std::string &what) {
      return Error{"buffer " + std::to_string(i) + " " + what};
    };
    if (buffer.lower >= buffer.upper)
      return error("expects a lifetime that is not empty, but got [" +
                   std::to_string(buffer.lower) + ", " +
                   std::to_string(buffer.upper) + ")");
    if (buffer.sizeInBytes < 0)
      return error("expects a size of at least 0, but got " +
                   std::to_string(buffer.sizeInBytes));
    if (buffer.alignment < 1)
      return error("expects an alignment of at least 1, but got " +
                   std::to_string(buffer.alignment));
    if (buffer.sizeInBytes > room ||
        buffer.alignment > room - buffer.sizeInBytes)
      return error("makes the sum of all sizes overflow 64 bits");
    room -= buffer.sizeInBytes + buffer.alignment;
  }
  return std::nullopt;
}

/// Returns the largest sum of `size(buffer)` that is alive at one time point.
template <class SizeOf>
static int64_t largestSum(const ArenaProblem &problem, SizeOf size) {
  std::vector<std::pair<int64_t, int64_t>> changes;
  changes.reserve(2 * problem.buffers.size());
  for (const Buffer &buffer : problem.buffers) {
    changes.emplace_back(buffer.lower, size(buffer));
    changes.emplace_back(buffer.upper, -size(buffer));
  }
  // At each time point, buffers are freed before others are allocated.
  std::sort(changes.begin(), changes.end());
  int64_t load = 0, largest = 0;
  for (auto [timePoint, change] : changes)
    largest = std::max(largest, load += change);
  return largest;
}

int64_t gpuopt::planning::largestLoad(const ArenaProblem &problem) {
  return largestSum(problem, [](const Buffer &b) { return b.sizeInBytes; });
}

int64_t gpuopt::planning::heightLowerLimit(const ArenaProblem &problem) {
  int64_t unit = 0, slack = 0;
  for (const Buffer &buffer : problem.buffers)
    unit = std::gcd(unit, buffer.alignment);
  if (unit <= 1)
    return largestLoad(problem);
  auto rounded = [&](const Buffer &buffer) {
    return (buffer.sizeInBytes + unit - 1) / unit * unit;
  };
  for (const Buffer &buffer : problem.buffers)
    slack = std::max(slack, rounded(buffer) - buffer.sizeInBytes);
  return std::max(largestLoad(problem), largestSum(problem, rounded) - slack);
}
