//===- WindowSearch.cpp - Packs an arena time point by time point ---------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WindowSearch.h"

#include <algorithm>

using namespace gpuopt::planning;

/// The number of tries to fill a window before another one is begun elsewhere,
/// and the number of partial packings of each try.
static constexpr int mostTries = 100;
static constexpr int64_t stepsPerTry = 1000;

/// A window grows by one time point, or by this fraction of all of them.
static constexpr int mostGrowths = 128;

WindowSearch::WindowSearch(const ArenaProblem &problem)
    : problem(problem), timePoints(findBusyTimePoints(problem)) {
  for (int64_t timePoint : timePoints) {
    int64_t load = 0;
    for (const Buffer &buffer : problem.buffers)
      if (buffer.lower <= timePoint && timePoint < buffer.upper)
        load += buffer.sizeInBytes;
    loads.push_back(load);
  }
}

void WindowSearch::begin(int timePoint) {
  packed.assign(problem.buffers.size(), -1);
  first = timePoint;
  last = timePoint + 1;
  showWindow();
}

/// Begins a window: in turn at the fullest time point, the first and the last.
void WindowSearch::beginNext() {
  int fullest = std::max_element(loads.begin(), loads.end()) - loads.begin();
  const int places[] = {fullest, 0, int(timePoints.size()) - 1};
  begin(places[starts++ % 3]);
}

/// Grows the window to the side where more is alive.
void WindowSearch::grow() {
  int end = timePoints.size();
  for (int i = 0; i < (end + mostGrowths - 1) / mostGrowths; ++i) {
    bool isLeft = last == end || (first > 0 && loads[first - 1] >= loads[last]);
    if (isLeft && first > 0)
      --first;
    else if (last < end)
      ++last;
  }
  showWindow();
}

void WindowSearch::showWindow() {
  int64_t lower = timePoints[first], upper = timePoints[last - 1] + 1;
  shown.buffers.clear();
  indices.clear();
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    Buffer buffer = problem.buffers[i];
    buffer.lower = std::max(buffer.lower, lower);
    buffer.upper = std::min(buffer.upper, upper);
    if (buffer.lower >= buffer.upper)
      continue;
    shown.buffers.push_back(buffer);
    indices.push_back(i);
  }
  search = std::make_unique<CanonicalSearch>(shown);
  tries = 0;
}

/// Returns the packing so far, except for the buffers around one time point: at
/// first only new buffers are free, then more and more, and more often those at
/// the ends of the window.
std::vector<int64_t> WindowSearch::drawGuide() {
  int reach = 0, centre = first;
  if (tries > 0) {
    reach = 1 + random.below(1 + std::min<int>(timePoints.size(), tries / 4));
    if (tries % 2)
      centre = first + random.below(last - first);
    else
      centre = random.below(2) ? first : last - 1;
  }
  auto timePointAt = [&](int i) {
    return timePoints[std::clamp(i, 0, int(timePoints.size()) - 1)];
  };
  int64_t lower = timePointAt(centre - reach + 1),
          upper = timePointAt(centre + reach);
  std::vector<int64_t> guide;
  for (int index : indices) {
    const Buffer &buffer = problem.buffers[index];
    bool isFree = reach > 0 && buffer.lower < upper && lower < buffer.upper;
    guide.push_back(isFree ? -1 : packed[index]);
  }
  return guide;
}

bool WindowSearch::fill(int64_t &steps, const std::function<bool()> &isOver) {
  search->setGuide(drawGuide());
  int64_t granted =
      std::min(steps, std::max<int64_t>(stepsPerTry, 2 * shown.buffers.size()));
  int64_t left = granted;
  auto preference =
      CanonicalSearch::Preference(random.below(CanonicalSearch::preferences));
  std::optional<ArenaSolution> found = search->run(
      capacity, preference, tries ? random.next() | 1 : 0, left, isOver);
  steps -= granted - std::max<int64_t>(left, 0);
  if (!found)
    return false;
  for (size_t i = 0; i < indices.size(); ++i)
    packed[indices[i]] = found->offsets[i];
  return true;
}

ArenaSolution WindowSearch::solution() const {
  ArenaSolution solution{packed, 0};
  for (size_t i = 0; i < packed.size(); ++i)
    solution.height =
        std::max(solution.height, packed[i] + problem.buffers[i].sizeInBytes);
  return solution;
}

std::optional<ArenaSolution>
WindowSearch::advance(int64_t capacityInBytes, int64_t &steps,
                      const std::function<bool()> &isOver) {
  if (timePoints.empty())
    return std::nullopt;
  if (capacity != capacityInBytes || tries >= mostTries) {
    capacity = capacityInBytes;
    beginNext();
  }
  while (steps > 0 && !isOver()) {
    if (!fill(steps, isOver)) {
      ++tries;
      return std::nullopt;
    }
    if (first == 0 && last == int(timePoints.size()))
      return solution();
    grow();
  }
  return std::nullopt;
}
