// Moves some of a vector's lanes to and from memory by AVX-512's masks. Element
// by element, the last lanes of a row take longer than all that come before.
#pragma once

#include "gpuopt/kernels/lanes.h"

#include <immintrin.h>

namespace gpuopt {
namespace detail {

static_assert(kLanes == 16 && kVectorBytes == 64);

// Has a bit for each lane below n, of those from `begin` on; n is below kLanes.
DEVICE uint32_t lane_mask(int64_t n, int begin = 0) {
  return _bzhi_u32(0xffff, n > 0 ? uint32_t(n) : 0) >> begin;
}
// Reads or writes the first n lanes and touches nothing behind them.
template <class T>
DEVICE void read_some(T (&v)[kLanes], const T *p, int64_t n) {
  if constexpr (sizeof(T) == 1) {
    _mm_storeu_si128((__m128i *)v,
                     _mm_maskz_loadu_epi8(__mmask16(lane_mask(n)), p));
  } else if constexpr (sizeof(T) == 2) {
    _mm256_storeu_si256((__m256i *)v,
                        _mm256_maskz_loadu_epi16(__mmask16(lane_mask(n)), p));
  } else if constexpr (sizeof(T) == 4) {
    _mm512_storeu_si512(v,
                        _mm512_maskz_loadu_epi32(__mmask16(lane_mask(n)), p));
  } else {
    _mm512_storeu_si512(v, _mm512_maskz_loadu_epi64(__mmask8(lane_mask(n)), p));
    _mm512_storeu_si512(
        v + 8, _mm512_maskz_loadu_epi64(__mmask8(lane_mask(n, 8)), p + 8));
  }
}
template <class T>
DEVICE void write_some(T *p, const T (&v)[kLanes], int64_t n) {
  if constexpr (sizeof(T) == 1) {
    _mm_mask_storeu_epi8(p, __mmask16(lane_mask(n)),
                         _mm_loadu_si128((const __m128i *)v));
  } else if constexpr (sizeof(T) == 2) {
    _mm256_mask_storeu_epi16(p, __mmask16(lane_mask(n)),
                             _mm256_loadu_si256((const __m256i *)v));
  } else if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(p, __mmask16(lane_mask(n)), _mm512_loadu_si512(v));
  } else {
    _mm512_mask_storeu_epi64(p, __mmask8(lane_mask(n)), _mm512_loadu_si512(v));
    _mm512_mask_storeu_epi64(p + 8, __mmask8(lane_mask(n, 8)),
                             _mm512_loadu_si512(v + 8));
  }
}

// The same for the first n lanes, of 4 or 8 bytes each; lanes behind are zero.
template <class T>
DEVICE Lanes<T> read_some_parts(const T *p, int64_t n) {
  Lanes<T> r;
  if constexpr (sizeof(T) == 4) {
    r.part[0] = PartOf<T>(_mm512_maskz_loadu_epi32(__mmask16(lane_mask(n)), p));
  } else {
    r.part[0] = PartOf<T>(_mm512_maskz_loadu_epi64(__mmask8(lane_mask(n)), p));
    r.part[1] =
        PartOf<T>(_mm512_maskz_loadu_epi64(__mmask8(lane_mask(n, 8)), p + 8));
  }
  return r;
}
template <class T>
DEVICE void write_some_parts(T *p, const Lanes<T> &x, int64_t n) {
  if constexpr (sizeof(T) == 4) {
    _mm512_mask_storeu_epi32(p, __mmask16(lane_mask(n)), __m512i(x.part[0]));
  } else {
    _mm512_mask_storeu_epi64(p, __mmask8(lane_mask(n)), __m512i(x.part[0]));
    _mm512_mask_storeu_epi64(p + 8, __mmask8(lane_mask(n, 8)),
                             __m512i(x.part[1]));
  }
}

} // namespace detail
} // namespace gpuopt
