// Which products on the host have their right matrix copied before, into the
// layout that oneDNN's kernels read fastest ("packed").
#pragma once

#include "gpuopt/ops/gemm.h"

namespace gpuopt {
namespace detail {

// Below, a matrix stays in a core's cache as it is; above, its copy is more
// memory than the time is worth.
constexpr int64_t kLeastPackedBytes = 256 << 10, kMostPackedBytes = 64 << 20;
constexpr int64_t kLeastKeptBytes = 32 << 10;
// From so many rows of C on, the copy takes less time than it saves. Where the
// rows of B lie badly, a product takes twice the time without it.
constexpr int64_t kPackedRows = 320, kPackedRowsOfBadStrides = 64;

// A kernel goes down the rows of B, a few columns at a time. Each row is in a
// page of its own where rows are a page apart; so many pages the second level
// of a processor's translation buffer has.
constexpr int64_t kPageBytes = 4096, kPages = 1024;

// Whether going down the columns of B misses the cache, because its rows lie at
// the same place of their pages, or the processor's record of pages, because
// there are too many. It depends on the shape alone, so that the same product
// is computed in the same way everywhere.
inline bool has_bad_strides(const GemmShape &s, int64_t element_size) {
  const int64_t row_bytes = s.b_k * element_size;
  return row_bytes % kPageBytes == 0 ||
         (row_bytes > kPageBytes && s.k > kPages);
}

inline bool packs_right_matrix(const GemmShape &s, int64_t element_size) {
  const int64_t bytes = s.k * s.n * element_size;
  return s.batch[0] * s.batch[1] == 1 && s.b_n == 1 && s.n > 1 &&
         bytes >= kLeastPackedBytes && bytes <= kMostPackedBytes &&
         s.m >= (has_bad_strides(s, element_size) ? kPackedRowsOfBadStrides
                                                  : kPackedRows);
}

// Whether a right matrix that no step changes is packed once, where that takes
// no time of the products. A small one stays in a core's cache as it is.
inline bool can_keep_right_matrix(const GemmShape &s, int64_t element_size) {
  return s.batch[0] * s.batch[1] == 1 && s.n > 1 && s.k > 1 &&
         s.k * s.n * element_size >= kLeastKeptBytes;
}

} // namespace detail
} // namespace gpuopt
