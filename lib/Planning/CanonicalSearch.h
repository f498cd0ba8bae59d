//===- CanonicalSearch.h - Depth-first search for low packings - -*- C++
//-*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A packing in which no buffer can be moved down is built from below, buffer
// by buffer in order of offsets, each resting on what is below it. Searching
// these alone loses nothing: every packing can be pushed down into one. The
// ideas of canonical order, dominance and decomposition are those of Moffitt,
// "MiniMalloc" (ASPLOS 2024); partial packings are memoised by what they mean
// for the buffers that are left.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_CANONICALSEARCH_H
#define GPUOPT_LIB_PLANNING_CANONICALSEARCH_H

#include "gpuopt/Planning/ArenaProblem.h"

#include <functional>
#include <optional>
#include <unordered_set>

namespace gpuopt::planning {

class CanonicalSearch {
public:
  explicit CanonicalSearch(const ArenaProblem &problem);

  /// How candidates with the same offset are ordered: by one of these first.
  enum Preference { BySize, ByLength, ByArea, ByLoad, preferences };

  /// A packing at most `capacityInBytes` high, if one is found within `nodes`
  /// partial packings; `nodes` is counted down. `seed` other than 0 shuffles
  /// the order a little.
  std::optional<ArenaSolution> run(int64_t capacityInBytes,
                                   Preference preference, uint64_t seed,
                                   int64_t &nodes,
                                   const std::function<bool()> &isOver);

private:
  /// A buffer that is still to be placed, and the lowest offset that what is
  /// placed leaves for it.
  struct Item {
    int buffer;
    int64_t lowest;
  };
  using Items = std::vector<Item>;

  void findSections();
  void rankBuffers(Preference preference, uint64_t seed);
  bool place(const Items &items, int64_t lastOffset);
  bool placeNext(const Items &items, int64_t lastOffset);
  bool fitsSections(const Items &items, int64_t lastOffset);
  std::vector<int> candidates(const Items &items, int64_t lastOffset) const;
  Items without(const Items &items, int position) const;
  uint64_t fingerprint(const Items &items, int64_t lastOffset) const;

  struct Span {
    int first, last; ///< Sections, half-open.
  };

  const ArenaProblem &problem;
  std::vector<Span> spans;
  std::vector<int64_t> sectionLoads;
  std::vector<int64_t> rank; ///< Smaller is placed first.
  std::vector<int64_t> offsets;
  std::vector<int64_t> sectionFloor, sectionRest;
  std::unordered_set<uint64_t> failed;
  int64_t capacity = 0, *nodesLeft = nullptr;
  const std::function<bool()> *isOver = nullptr;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_CANONICALSEARCH_H
