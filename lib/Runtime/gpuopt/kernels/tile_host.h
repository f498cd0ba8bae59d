// Tiles of kLanes x kLanes elements, which the host reads as they lie in memory
// and turns in registers. A kernel whose neighbouring lanes are far apart reads
// one element of each line of memory otherwise.
#pragma once

#include "gpuopt/kernels/memory.h"

#include <array>

namespace gpuopt {
namespace detail {

template <class T>
using Tile = std::array<Lanes<T>, kLanes>;

// The lanes of `a` whose number has the bit Distance unset, each followed
// Distance lanes further on by that of `b`; or, if OfUpper says so, those of
// `b` that have it set, each preceded by that of `a`.
template <int Distance, bool OfUpper, class Part, size_t... I>
DEVICE Part exchange(Part a, Part b, std::index_sequence<I...>) {
  constexpr int width = sizeof...(I);
  return __builtin_shufflevector(
      a, b,
      (int(I) & Distance ? width + int(I) - (OfUpper ? 0 : Distance)
                         : int(I) + (OfUpper ? Distance : 0))...);
}

// Swaps, in each square of 2 Distance x 2 Distance elements, the two quarters
// beside the diagonal.
template <int Distance, class T>
DEVICE void swap_quarters(Tile<T> &rows) {
  constexpr int parts = Lanes<T>::kParts, width = kLanes / parts;
  constexpr std::make_index_sequence<width> lanes;
  UNROLL
  for (int i = 0; i < kLanes; i++) {
    if (i & Distance)
      continue;
    Lanes<T> a = rows[i], b = rows[i + Distance];
    UNROLL
    for (int p = 0; p < parts; p++)
      if constexpr (Distance < width) {
        rows[i].part[p] =
            exchange<Distance, false>(a.part[p], b.part[p], lanes);
        rows[i + Distance].part[p] =
            exchange<Distance, true>(a.part[p], b.part[p], lanes);
      } else if (p * width & Distance) {
        rows[i].part[p] = b.part[p - Distance / width];
      } else {
        rows[i + Distance].part[p] = a.part[p + Distance / width];
      }
  }
}

} // namespace detail

// Reads p[r + k * stride] into lane k of rows[r], for the first n_rows rows and
// the first n lanes; the others are zero.
template <class T>
DEVICE void load_tile(Lanes<Compute<T>> (&rows)[kLanes], const T *p,
                      int64_t stride, int64_t n_rows, int64_t n) {
  static_assert(kLanes == 16, "four exchanges");
  detail::Tile<Compute<T>> tile;
  for (int k = 0; k < kLanes; k++)
    tile[k] =
        k < n ? load(p + k * stride, n_rows) : Lanes<Compute<T>>(Compute<T>(0));
  detail::swap_quarters<8>(tile);
  detail::swap_quarters<4>(tile);
  detail::swap_quarters<2>(tile);
  detail::swap_quarters<1>(tile);
  UNROLL
  for (int r = 0; r < kLanes; r++)
    rows[r] = tile[r];
}

} // namespace gpuopt
