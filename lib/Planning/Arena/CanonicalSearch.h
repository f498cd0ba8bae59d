//===- CanonicalSearch.h - Depth-first search for packings ------*- C++ -*-===//
//
// Part of gpuopt, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// This search only builds packings in which no buffer can be moved down, from
// below, buffer by buffer. It loses nothing, because every packing can be
// pushed down into such a one. The ideas of canonical order, dominance and
// decomposition are those of Moffitt, "MiniMalloc" (ASPLOS 2024); partial
// packings are memoised by the room that they leave for the remaining buffers.
//
//===----------------------------------------------------------------------===//

#ifndef GPUOPT_LIB_PLANNING_ARENA_CANONICALSEARCH_H
#define GPUOPT_LIB_PLANNING_ARENA_CANONICALSEARCH_H

#include "Random.h"
#include "gpuopt/Planning/Arena/ArenaProblem.h"

#include <array>
#include <functional>
#include <optional>
#include <unordered_set>

namespace gpuopt::planning {

/// The time points that matter, ascending: those before which buffers were born
/// since the last death. At all others a subset of theirs is alive.
std::vector<int64_t> findBusyTimePoints(const ArenaProblem &problem);

class CanonicalSearch {
public:
  explicit CanonicalSearch(const ArenaProblem &problem);

  /// The first key by which candidates with the same offset are ordered, larger
  /// first.
  enum Preference {
    ByLength,
    ByLoadAndArea,
    ByLoadAndLength,
    ByArea,
    BySize,
    preferences
  };

  /// Sets offsets to follow where possible, one for each buffer; 0 or less
  /// leaves a buffer free. An empty list removes the guide.
  void setGuide(std::vector<int64_t> offsets) { guide = std::move(offsets); }

  /// Returns a packing at most `capacityInBytes` high if one is found within
  /// `nodes` partial packings; `nodes` is counted down. A `seed` other than 0
  /// shuffles the order a little and prefers buffers where earlier runs failed.
  std::optional<ArenaSolution> run(int64_t capacityInBytes,
                                   Preference preference, uint64_t seed,
                                   int64_t &nodes,
                                   const std::function<bool()> &isOver);

private:
  struct Span {
    int first, last; ///< Sections, half-open.
    bool meets(Span other) const {
      return first < other.last && other.first < last;
    }
  };

  /// A buffer that is not placed yet, and the lowest offset that the placed
  /// buffers leave for it.
  struct Item {
    int buffer;
    int64_t lowest;
  };
  using Items = std::vector<Item>;

  /// Items that meet only each other, to be placed at `lastOffset` or above.
  struct Part {
    Items items;
    int64_t lastOffset = 0;
    uint64_t print = 0;
  };

  void findSections();
  using Key = std::array<double, 3>; ///< Larger is placed first.
  Key keyOf(int index, Preference preference, double mostConflicts,
            Random *random) const;
  void rankBuffers(Preference preference, uint64_t seed);
  bool place(const Items &items, int64_t lastOffset);
  bool mayFit(Part &part, int64_t lastOffset);
  bool placeNext(const Part &part);
  bool fitsSections(const Part &part);
  int64_t wantedOffset(const Item &item) const;
  std::vector<int> candidates(const Part &part) const;
  Items without(const Items &items, int position) const;
  Span rangeOf(const Items &items) const;
  uint64_t fingerprint(const Items &items, int64_t lastOffset) const;

  const ArenaProblem &problem;
  std::vector<Span> spans;
  std::vector<int64_t> sectionLoads;
  std::vector<double> conflicts; ///< Failures by section; old ones fade.
  std::vector<int64_t> rank;     ///< Smaller is placed first.
  std::vector<int64_t> offsets, guide;
  std::vector<int64_t> sectionFloor, sectionRest;
  std::unordered_set<uint64_t> failed;
  int64_t capacity = 0, *nodesLeft = nullptr;
  const std::function<bool()> *isOver = nullptr;
};

} // namespace gpuopt::planning

#endif // GPUOPT_LIB_PLANNING_ARENA_CANONICALSEARCH_H
