//===- CanonicalSearch.cpp - Depth-first search for low packings ----------===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CanonicalSearch.h"

#include <algorithm>
#include <numeric>

using namespace gpuopt::planning;

/// How many failures are remembered; beyond this, the set is cleared.
static constexpr size_t mostFailures = 4'000'000;

static int64_t alignTo(int64_t offset, int64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

CanonicalSearch::CanonicalSearch(const ArenaProblem &problem)
    : problem(problem) {
  findSections();
}

std::vector<int64_t>
gpuopt::planning::findBusyTimePoints(const ArenaProblem &problem) {
  std::vector<std::pair<int64_t, bool>> events; // (time point, is birth)
  for (const Buffer &buffer : problem.buffers) {
    events.emplace_back(buffer.lower, true);
    events.emplace_back(buffer.upper, false);
  }
  // At each time point, deaths come before births.
  std::sort(events.begin(), events.end());
  std::vector<int64_t> timePoints; // the last birth before each death
  for (size_t i = 1; i < events.size(); ++i)
    if (!events[i].second && events[i - 1].second)
      timePoints.push_back(events[i - 1].first);
  return timePoints;
}

/// A section for each busy time point.
void CanonicalSearch::findSections() {
  std::vector<int64_t> timePoints = findBusyTimePoints(problem);
  sectionLoads.assign(timePoints.size(), 0);
  conflicts.assign(timePoints.size(), 0);
  for (const Buffer &buffer : problem.buffers) {
    Span span;
    span.first =
        std::lower_bound(timePoints.begin(), timePoints.end(), buffer.lower) -
        timePoints.begin();
    span.last =
        std::lower_bound(timePoints.begin(), timePoints.end(), buffer.upper) -
        timePoints.begin();
    spans.push_back(span);
    for (int s = span.first; s < span.last; ++s)
      sectionLoads[s] += buffer.sizeInBytes;
  }
}

/// Returns the key by which a buffer is ordered. With a seed, it is slightly
/// random, and buffers count more in sections where earlier searches failed (as
/// in weighted-degree heuristics; Boussemart et al., ECAI 2004).
CanonicalSearch::Key CanonicalSearch::keyOf(int index, Preference preference,
                                            double mostConflicts,
                                            Random *random) const {
  const Buffer &buffer = problem.buffers[index];
  double size = buffer.sizeInBytes, load = 0, conflict = 0;
  double length = double(buffer.upper) - double(buffer.lower);
  for (int s = spans[index].first; s < spans[index].last; ++s) {
    load = std::max(load, double(sectionLoads[s]));
    conflict = std::max(conflict, conflicts[s]);
  }
  if (random) {
    load *= 1 + 10 * conflict / mostConflicts;
    size *= 1 + 0.3 * random->unit();
    length *= 1 + 0.3 * random->unit();
    load *= 1 + 0.05 * random->unit();
  }
  double area = size * length;
  const Key keys[] = {{length, area, load},
                      {load, area, length},
                      {load, length, area},
                      {area, load, length},
                      {size, length, load}};
  return keys[preference];
}

void CanonicalSearch::rankBuffers(Preference preference, uint64_t seed) {
  int n = problem.buffers.size();
  Random random(seed);
  double mostConflicts = 1;
  for (double &conflict : conflicts)
    mostConflicts = std::max(mostConflicts, conflict *= 0.7);
  std::vector<Key> keys;
  for (int i = 0; i < n; ++i)
    keys.push_back(
        keyOf(i, preference, mostConflicts, seed ? &random : nullptr));
  std::vector<int> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
  });
  rank.assign(n, 0);
  for (int i = 0; i < n; ++i)
    rank[order[i]] = i;
}

/// Whether each section still has room for its other buffers above the lowest
/// place that is left for any of them.
bool CanonicalSearch::fitsSections(const Part &part) {
  const Items &items = part.items;
  auto [first, last] = rangeOf(items);
  std::fill(sectionFloor.begin() + first, sectionFloor.begin() + last,
            INT64_MAX);
  std::fill(sectionRest.begin() + first, sectionRest.begin() + last, 0);
  for (const Item &item : items) {
    int64_t lowest = std::max(item.lowest, part.lastOffset);
    int64_t size = problem.buffers[item.buffer].sizeInBytes;
    int64_t *floor = sectionFloor.data(), *rest = sectionRest.data();
    for (int s = spans[item.buffer].first; s < spans[item.buffer].last; ++s) {
      floor[s] = std::min(floor[s], lowest);
      rest[s] += size;
    }
  }
  for (int s = first; s < last; ++s)
    if (sectionRest[s] > 0 && sectionFloor[s] + sectionRest[s] > capacity) {
      conflicts[s] += 1;
      return false;
    }
  return true;
}

/// Returns the offset at which to place the item: as low as possible, but not
/// below its guide.
int64_t CanonicalSearch::wantedOffset(const Item &item) const {
  return guide.empty() ? item.lowest
                       : std::max(item.lowest, guide[item.buffer]);
}

/// Returns the positions of the items that may come next, the lowest first. If
/// another whole item fits below an item, that item is dominated, because it
/// could be moved down.
std::vector<int> CanonicalSearch::candidates(const Part &part) const {
  const Items &items = part.items;
  int64_t lowestEnd = INT64_MAX;
  for (const Item &item : items)
    lowestEnd = std::min(
        lowestEnd, item.lowest + problem.buffers[item.buffer].sizeInBytes);
  std::vector<int> result;
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i].lowest >= part.lastOffset && items[i].lowest < lowestEnd)
      result.push_back(i);
  std::sort(result.begin(), result.end(), [&](int a, int b) {
    int64_t first = wantedOffset(items[a]), second = wantedOffset(items[b]);
    if (first != second)
      return first < second;
    return rank[items[a].buffer] < rank[items[b].buffer];
  });
  return result;
}

CanonicalSearch::Span CanonicalSearch::rangeOf(const Items &items) const {
  Span range{INT32_MAX, 0};
  for (const Item &item : items) {
    range.first = std::min(range.first, spans[item.buffer].first);
    range.last = std::max(range.last, spans[item.buffer].last);
  }
  return range;
}

CanonicalSearch::Items CanonicalSearch::without(const Items &items,
                                                int position) const {
  Items rest;
  rest.reserve(items.size() - 1);
  Item placed = items[position];
  Span span = spans[placed.buffer];
  int64_t end = placed.lowest + problem.buffers[placed.buffer].sizeInBytes;
  for (size_t i = 0; i < items.size(); ++i) {
    if (int(i) == position)
      continue;
    Item item = items[i];
    Span other = spans[item.buffer];
    if (span.meets(other))
      item.lowest = std::max(
          item.lowest, alignTo(end, problem.buffers[item.buffer].alignment));
    rest.push_back(item);
  }
  return rest;
}

uint64_t CanonicalSearch::fingerprint(const Items &items,
                                      int64_t lastOffset) const {
  auto mix = [](uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  };
  uint64_t sum = mix(lastOffset + 0x9E3779B97F4A7C15u);
  for (const Item &item : items)
    sum += mix(item.lowest * 0x9E3779B97F4A7C15u + item.buffer + 1);
  return sum;
}

/// Places all items, in parts that do not meet. Items are in the order of their
/// first sections.
bool CanonicalSearch::place(const Items &items, int64_t lastOffset) {
  std::vector<Part> parts;
  int reach = -1;
  for (const Item &item : items) {
    if (spans[item.buffer].first >= reach)
      parts.emplace_back();
    parts.back().items.push_back(item);
    reach = std::max(reach, spans[item.buffer].last);
  }
  for (Part &part : parts)
    if (!mayFit(part, lastOffset))
      return false;
  auto rank = [](const Part &part) {
    return std::pair(part.items.size(), part.items.front().buffer);
  };
  std::sort(parts.begin(), parts.end(),
            [&](const Part &a, const Part &b) { return rank(a) < rank(b); });
  for (const Part &part : parts)
    if (!placeNext(part))
      return false;
  return true;
}

/// Whether the part may fit. Nothing in it can be placed below the lowest place
/// at or above the last offset, so the part's offset is raised to it; then
/// equal parts are recognised as equal.
bool CanonicalSearch::mayFit(Part &part, int64_t lastOffset) {
  if (--*nodesLeft < 0 || (*nodesLeft % 1024 == 0 && (*isOver)())) {
    *nodesLeft = -1;
    return false;
  }
  part.lastOffset = INT64_MAX;
  for (const Item &item : part.items)
    if (item.lowest >= lastOffset)
      part.lastOffset = std::min(part.lastOffset, item.lowest);
  if (part.lastOffset == INT64_MAX || !fitsSections(part))
    return false;
  part.print = fingerprint(part.items, part.lastOffset);
  return !failed.count(part.print);
}

bool CanonicalSearch::placeNext(const Part &part) {
  for (int position : candidates(part)) {
    Item item = part.items[position];
    offsets[item.buffer] = item.lowest;
    if (place(without(part.items, position), item.lowest))
      return true;
    if (*nodesLeft < 0)
      return false;
  }
  if (failed.size() >= mostFailures)
    failed.clear();
  failed.insert(part.print);
  return false;
}

std::optional<ArenaSolution>
CanonicalSearch::run(int64_t capacityInBytes, Preference preference,
                     uint64_t seed, int64_t &nodes,
                     const std::function<bool()> &overCheck) {
  capacity = capacityInBytes;
  nodesLeft = &nodes;
  isOver = &overCheck;
  failed.clear();
  rankBuffers(preference, seed);
  offsets.assign(problem.buffers.size(), 0);
  sectionFloor.assign(sectionLoads.size(), 0);
  sectionRest.assign(sectionLoads.size(), 0);
  Items items;
  for (size_t i = 0; i < problem.buffers.size(); ++i)
    if (problem.buffers[i].sizeInBytes > 0)
      items.push_back({int(i), 0});
  std::sort(items.begin(), items.end(), [&](Item a, Item b) {
    return std::make_pair(spans[a.buffer].first, a.buffer) <
           std::make_pair(spans[b.buffer].first, b.buffer);
  });
  if (!place(items, 0))
    return std::nullopt;
  ArenaSolution solution{offsets, 0};
  for (const Item &item : items)
    solution.height =
        std::max(solution.height, offsets[item.buffer] +
                                      problem.buffers[item.buffer].sizeInBytes);
  return solution;
}
