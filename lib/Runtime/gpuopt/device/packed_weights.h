// Copies of weights in the layouts that a library's kernels read ("packed"). In
// a program of the forward alone no step changes a weight, so it is packed once
// rather than at each call.
#pragma once

#include "gpuopt/device/error.h"
#include "gpuopt/device/pages.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace gpuopt {

class PackedWeights {
public:
  // Says that no step changes the bytes from `begin` on. With `has_one_reader`,
  // these are weights that one call reads, and that are computed anew when
  // others change: their pages are released once they are packed, unless the
  // call packs them part by part.
  void add_unchanged(char *begin, size_t bytes, bool has_one_reader) {
    const Range range{begin, begin + bytes, has_one_reader};
    ranges.insert(std::upper_bound(ranges.begin(), ranges.end(), range), range);
  }
  // Whether what `weights` points to is such memory.
  bool has(const void *weights) const { return range_of(weights) != nullptr; }
  // The weights have got other values: each is packed again when it is used.
  void invalidate() { version++; }

  // Returns the copy of some weights for the kernel that `key` names, aligned
  // to a page. `pack` writes it, at the first use since the weights have
  // changed.
  template <class Pack>
  char *find(const void *weights, const std::string &key, size_t bytes,
             Pack pack) {
    Copy &copy = copies[{weights, key}];
    if (!copy.memory) {
      copy.memory.reset(static_cast<char *>(
          aligned_alloc(4096, (bytes + 4095) / 4096 * 4096)));
      if (!copy.memory)
        throw Error("cannot allocate " + std::to_string(bytes) +
                    " bytes for a copy of weights");
    }
    if (copy.version != version) {
      pack(copy.memory.get());
      if (const Range *range = range_of(weights);
          range && range->has_one_reader &&
          bytes >= size_t(range->end - range->begin))
        release_pages(range->begin, size_t(range->end - range->begin));
    }
    copy.version = version;
    return copy.memory.get();
  }

private:
  struct Range {
    char *begin, *end;
    bool has_one_reader;
    bool operator<(const Range &other) const { return begin < other.begin; }
  };
  const Range *range_of(const void *weights) const {
    char *p = static_cast<char *>(const_cast<void *>(weights));
    const auto after =
        std::upper_bound(ranges.begin(), ranges.end(), Range{p, p, false});
    return after != ranges.begin() && p < std::prev(after)->end
               ? &*std::prev(after)
               : nullptr;
  }
  struct Free {
    void operator()(char *p) const { free(p); }
  };
  struct Copy {
    std::unique_ptr<char, Free> memory;
    int64_t version = -1; // of the weights that it is a copy of
  };
  using Key = std::pair<const void *, std::string>;
  struct Hash {
    size_t operator()(const Key &key) const {
      return std::hash<const void *>()(key.first) * 31 +
             std::hash<std::string>()(key.second);
    }
  };

  std::vector<Range> ranges; // in their order
  std::unordered_map<Key, Copy, Hash> copies;
  int64_t version = 0;
};

} // namespace gpuopt
