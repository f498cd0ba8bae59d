// Between memory and lanes. Every function takes n, the number of elements that
// are left from p on: lanes past it read as zero and are not written. Half
// precision widens to float on the way in and rounds to nearest even on the way
// out; a tensor of bool is one byte an element.
#pragma once

#include "gpuopt/lanes.h"

#if !defined(__CUDACC__) && defined(__SSE2__)
#include <immintrin.h>
#endif

namespace gpuopt {

namespace detail {

#ifdef __CUDACC__

template <int Bytes>
struct WordOf;
template <>
struct WordOf<4> {
  using type = uint32_t;
};
template <>
struct WordOf<8> {
  using type = uint2;
};
template <>
struct WordOf<16> {
  using type = uint4;
};
template <>
struct WordOf<32> {
  struct type {
    uint4 low, high;
  };
};
template <class T>
constexpr int kAlignment = sizeof(T) * kLanes < 16 ? sizeof(T) * kLanes : 16;

// All lanes at once: one access of up to 16 bytes where the address allows it.
template <class T>
DEVICE void read_all(T (&v)[kLanes], const T *p) {
  using Word = typename WordOf<sizeof(T) * kLanes>::type;
  if (reinterpret_cast<uintptr_t>(p) % kAlignment<T> == 0) {
    const Word word = *reinterpret_cast<const Word *>(p);
    memcpy(v, &word, sizeof word);
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      v[k] = p[k];
  }
}
template <class T>
DEVICE void write_all(T *p, const T (&v)[kLanes]) {
  using Word = typename WordOf<sizeof(T) * kLanes>::type;
  if (reinterpret_cast<uintptr_t>(p) % kAlignment<T> == 0) {
    Word word;
    memcpy(&word, v, sizeof word);
    *reinterpret_cast<Word *>(p) = word;
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      p[k] = v[k];
  }
}

#else

template <class T>
DEVICE void read_all(T (&v)[kLanes], const T *p) {
  memcpy(v, p, sizeof v);
}
template <class T>
DEVICE void write_all(T *p, const T (&v)[kLanes]) {
  memcpy(p, v, sizeof v);
}

#endif

template <class T>
DEVICE void read(T (&v)[kLanes], const T *p, int64_t n) {
  if (n >= kLanes) {
    read_all(v, p);
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      v[k] = k < n ? p[k] : T{};
  }
}
template <class T>
DEVICE void write(T *p, const T (&v)[kLanes], int64_t n) {
  if (n >= kLanes) {
    write_all(p, v);
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      if (k < n)
        p[k] = v[k];
  }
}

// Between lanes and an array of what memory holds.
template <class T>
DEVICE Lanes<T> widen_all(const T (&v)[kLanes]) {
  Lanes<T> r;
#ifdef __CUDACC__
  UNROLL
  for (int k = 0; k < kLanes; k++)
    r.part[k] = v[k];
#else
  memcpy(&r, v, sizeof r);
#endif
  return r;
}
template <class T>
DEVICE void narrow_all(T (&v)[kLanes], Lanes<T> x) {
#ifdef __CUDACC__
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = x.part[k];
#else
  memcpy(v, &x, sizeof x);
#endif
}

DEVICE Lanes<float> widen_all(const bf16 (&v)[kLanes]) {
  Lanes<int32_t> bits;
  UNROLL
  for (int k = 0; k < kLanes; k++)
    set_lane(bits, k, int32_t(uint32_t(v[k].bits) << 16));
  return bit_cast<float>(bits);
}
DEVICE void narrow_all(bf16 (&v)[kLanes], Lanes<float> x) {
  float wide[kLanes];
  narrow_all(wide, x);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = narrow_bf16(wide[k]);
}

DEVICE Lanes<float> widen_all(const f16 (&v)[kLanes]) {
  float wide[kLanes];
#if !defined(__CUDACC__) && defined(__F16C__)
  // g++ does not vectorise the conversion by itself.
  UNROLL
  for (int k = 0; k < kLanes; k += 8)
    _mm256_storeu_ps(wide + k, _mm256_cvtph_ps(_mm_loadu_si128(
                                   reinterpret_cast<const __m128i *>(v + k))));
#else
  UNROLL
  for (int k = 0; k < kLanes; k++)
    wide[k] = widen(v[k]);
#endif
  return widen_all(wide);
}
DEVICE void narrow_all(f16 (&v)[kLanes], Lanes<float> x) {
  float wide[kLanes];
  narrow_all(wide, x);
#if !defined(__CUDACC__) && defined(__F16C__)
  UNROLL
  for (int k = 0; k < kLanes; k += 8)
    _mm_storeu_si128(
        reinterpret_cast<__m128i *>(v + k),
        _mm256_cvtps_ph(_mm256_loadu_ps(wide + k), _MM_FROUND_TO_NEAREST_INT));
#else
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = narrow_f16(wide[k]);
#endif
}

} // namespace detail

template <class T>
DEVICE Lanes<Compute<T>> load(const T *p, int64_t n) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>)
    if (n >= kLanes) {
      Lanes<T> r;
      memcpy(&r, p, sizeof r);
      return r;
    }
#endif
  T v[kLanes];
  detail::read(v, p, n);
  return detail::widen_all(v);
}

template <class T>
DEVICE void store(T *p, Lanes<Compute<T>> x, int64_t n) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>)
    if (n >= kLanes) {
      memcpy(p, &x, sizeof x);
      return;
    }
#endif
  T v[kLanes];
  detail::narrow_all(v, x);
  detail::write(p, v, n);
}

// What a tensor of type H in memory would make of x.
template <class H>
DEVICE Lanes<float> round_to(Lanes<float> x) {
  H v[kLanes];
  detail::narrow_all(v, x);
  return detail::widen_all(v);
}
template <class H>
HOST_DEVICE float round_to(float x) {
  H rounded;
  store_scalar(&rounded, x);
  return widen(rounded);
}

namespace detail {
#ifdef __CUDACC__
DEVICE Lanes<int32_t> widen_bytes(const uint8_t (&v)[kLanes]) {
  Lanes<int32_t> r;
  UNROLL
  for (int k = 0; k < kLanes; k++)
    r.part[k] = v[k];
  return r;
}
DEVICE void narrow_bytes(uint8_t (&v)[kLanes], Lanes<int32_t> x) {
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = uint8_t(x.part[k]);
}
#else
// By parts; by intrinsics where there are some, since g++ 12 takes the bytes
// one by one. Without a mask it warns of an undefined operand inside them.
using Bytes = VectorOf<uint8_t, kVectorBytes / 4>::type;
#if defined(__AVX512F__)
constexpr __mmask16 kAllLanes = 0xffff;
#endif
DEVICE PartOf<int32_t> widen_part(Bytes bytes) {
#if defined(__AVX512F__)
  return PartOf<int32_t>(_mm512_maskz_cvtepu8_epi32(kAllLanes, __m128i(bytes)));
#elif defined(__AVX2__)
  return PartOf<int32_t>(
      _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(int64_t(bytes))));
#else
  return __builtin_convertvector(bytes, PartOf<int32_t>);
#endif
}
DEVICE Bytes narrow_part(PartOf<int32_t> x) {
#if defined(__AVX512F__)
  return Bytes(_mm512_maskz_cvtepi32_epi8(kAllLanes, __m512i(x)));
#else
  return __builtin_convertvector(x, Bytes);
#endif
}
DEVICE Lanes<int32_t> widen_bytes(const uint8_t (&v)[kLanes]) {
  Lanes<int32_t> r;
  UNROLL
  for (int i = 0; i < r.kParts; i++) {
    Bytes bytes;
    memcpy(&bytes, v + i * int(sizeof bytes), sizeof bytes);
    r.part[i] = widen_part(bytes);
  }
  return r;
}
DEVICE void narrow_bytes(uint8_t (&v)[kLanes], Lanes<int32_t> x) {
  UNROLL
  for (int i = 0; i < x.kParts; i++) {
    const Bytes bytes = narrow_part(x.part[i]);
    memcpy(v + i * int(sizeof bytes), &bytes, sizeof bytes);
  }
}
#endif
} // namespace detail

DEVICE Lanes<bool> load_mask(const uint8_t *p, int64_t n) {
  uint8_t v[kLanes];
  detail::read(v, p, n);
  return detail::widen_bytes(v) != Lanes<int32_t>(0);
}
DEVICE void store(uint8_t *p, Lanes<bool> x, int64_t n) {
  uint8_t v[kLanes];
  detail::narrow_bytes(v, select(x, Lanes<int32_t>(1), Lanes<int32_t>(0)));
  detail::write(p, v, n);
}

// Lane k reads p[k * stride].
template <class T>
DEVICE Lanes<Compute<T>> load_strided(const T *p, int64_t stride, int64_t n) {
  if (stride == 1)
    return load(p, n);
  T v[kLanes];
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = k < n ? p[k * stride] : T{};
  return detail::widen_all(v);
}
template <class T>
DEVICE void store_strided(T *p, int64_t stride, Lanes<Compute<T>> x,
                          int64_t n) {
  if (stride == 1)
    return store(p, x, n);
  T v[kLanes];
  detail::narrow_all(v, x);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < n)
      p[k * stride] = v[k];
}

// Lane k reads p[index[k]].
template <class T>
DEVICE Lanes<Compute<T>> gather(const T *p, Lanes<int64_t> index, int64_t n) {
  T v[kLanes];
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = k < n ? p[lane(index, k)] : T{};
  return detail::widen_all(v);
}
DEVICE Lanes<bool> gather_mask(const uint8_t *p, Lanes<int64_t> index,
                               int64_t n) {
  Lanes<bool> r(false);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < n)
      set_lane(r, k, p[lane(index, k)] != 0);
  return r;
}
DEVICE Lanes<bool> load_mask_strided(const uint8_t *p, int64_t stride,
                                     int64_t n) {
  Lanes<bool> r(false);
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < n)
      set_lane(r, k, p[k * stride] != 0);
  return r;
}

} // namespace gpuopt
