//===- FirstFit.cpp - First-fit packing in several orders -----------------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FirstFit.h"

#include <algorithm>
#include <numeric>
#include <tuple>

using namespace gpuopt::planning;

static int64_t alignTo(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

namespace {
/// A placed buffer. These are sorted by offset, in one array for fast scans.
struct Placed {
  int64_t offset, end, lower, upper;
};
} // namespace

ArenaSolution gpuopt::planning::packFirstFit(const ArenaProblem &problem,
                                             const std::vector<int> &order) {
  ArenaSolution solution;
  solution.offsets.assign(problem.buffers.size(), 0);
  std::vector<Placed> placed;
  placed.reserve(order.size());
  for (int index : order) {
    const Buffer &buffer = problem.buffers[index];
    if (buffer.sizeInBytes == 0)
      continue;
    int64_t offset = 0;
    for (const Placed &other : placed) {
      if (other.lower >= buffer.upper || buffer.lower >= other.upper ||
          other.end <= offset)
        continue;
      if (other.offset >= offset + buffer.sizeInBytes)
        break; // the gap below `other` is wide enough
      offset = alignTo(other.end, buffer.alignment);
    }
    solution.offsets[index] = offset;
    int64_t end = offset + buffer.sizeInBytes;
    solution.height = std::max(solution.height, end);
    auto position = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [](int64_t value, const Placed &p) { return value < p.offset; });
    placed.insert(position, {offset, end, buffer.lower, buffer.upper});
  }
  return solution;
}

/// Sorts 0..n-1 by a key, larger first; ties are broken by the index.
template <class Key>
static std::vector<int> sortedBy(size_t n, Key key) {
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::make_pair(key(a), b) > std::make_pair(key(b), a);
  });
  return order;
}

/// Returns for each buffer the largest load during its lifetime.
static std::vector<int64_t> heaviestLoads(const ArenaProblem &problem) {
  std::vector<int64_t> timePoints;
  for (const Buffer &buffer : problem.buffers)
    timePoints.push_back(buffer.lower);
  std::sort(timePoints.begin(), timePoints.end());
  timePoints.erase(std::unique(timePoints.begin(), timePoints.end()),
                   timePoints.end());
  auto indexOf = [&](int64_t timePoint) {
    return std::lower_bound(timePoints.begin(), timePoints.end(), timePoint) -
           timePoints.begin();
  };
  std::vector<int64_t> load(timePoints.size() + 1, 0);
  for (const Buffer &buffer : problem.buffers) {
    load[indexOf(buffer.lower)] += buffer.sizeInBytes;
    load[indexOf(buffer.upper)] -= buffer.sizeInBytes;
  }
  std::partial_sum(load.begin(), load.end(), load.begin());
  // Sparse table of range maxima.
  std::vector<std::vector<int64_t>> table{load};
  for (size_t width = 1; 2 * width <= load.size(); width *= 2) {
    const std::vector<int64_t> &last = table.back();
    std::vector<int64_t> next(load.size() - 2 * width + 1);
    for (size_t i = 0; i < next.size(); ++i)
      next[i] = std::max(last[i], last[i + width]);
    table.push_back(std::move(next));
  }
  std::vector<int64_t> heaviest;
  for (const Buffer &buffer : problem.buffers) {
    size_t from = indexOf(buffer.lower), to = indexOf(buffer.upper), level = 0;
    while (size_t(2) << level <= to - from)
      ++level;
    heaviest.push_back(
        std::max(table[level][from], table[level][to - (size_t(1) << level)]));
  }
  return heaviest;
}

std::vector<std::vector<int>>
gpuopt::planning::firstFitOrders(const ArenaProblem &problem) {
  const std::vector<Buffer> &buffers = problem.buffers;
  size_t n = buffers.size();
  std::vector<int64_t> heaviest = heaviestLoads(problem);
  auto size = [&](int i) { return buffers[i].sizeInBytes; };
  auto length = [&](int i) { // in floating point: time points may be extreme
    return double(buffers[i].upper) - double(buffers[i].lower);
  };
  auto area = [&](int i) { return double(size(i)) * length(i); };
  return {
      sortedBy(n, [&](int i) { return std::tuple(heaviest[i], size(i)); }),
      sortedBy(n, [&](int i) { return std::tuple(heaviest[i], length(i)); }),
      sortedBy(n, [&](int i) { return std::tuple(length(i), size(i)); }),
      sortedBy(n, [&](int i) { return std::tuple(size(i), length(i)); }),
      sortedBy(n, [&](int i) { return area(i); }),
      sortedBy(n, [&](int i) { return std::tuple(heaviest[i], area(i)); }),
      sortedBy(n,
               [&](int i) { return std::tuple(~buffers[i].lower, size(i)); }),
      sortedBy(n, [&](int i) { return std::tuple(buffers[i].upper, size(i)); }),
  };
}

ArenaSolution gpuopt::planning::packFirstFits(const ArenaProblem &problem,
                                              int64_t enough,
                                              std::vector<int> &bestOrder) {
  ArenaSolution best;
  bool first = true;
  for (std::vector<int> &order : firstFitOrders(problem)) {
    ArenaSolution next = packFirstFit(problem, order);
    if (first || next.height < best.height) {
      best = std::move(next);
      bestOrder = std::move(order);
    }
    first = false;
    if (best.height <= enough)
      break;
  }
  return best;
}
