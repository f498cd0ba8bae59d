// Moves elements between memory and lanes. A function that takes n, the number
// of elements that are left from p on, reads lanes past it as zero and does not
// write them. Half precision widens to float on the way in and rounds to
// nearest even on the way out; a tensor of bool is one byte an element.
//
// What is known of a place when the program is written takes no instructions
// when it runs:
//
//   load(p, n)         any place, any n
//   load<8>(p, n)      p is aligned to 8 elements, n is a multiple of 8
//   load_vector(p)     p is aligned to 16 elements, and all lanes are there
//
// The last one is right for any number of lanes up to 16.
#pragma once

#include "gpuopt/kernels/lanes.h"

#if !defined(__CUDACC__) && defined(__SSE2__)
#include <immintrin.h>
#endif
#if !defined(__CUDACC__) && defined(__AVX512BW__) && defined(__AVX512VL__) &&  \
    defined(__BMI2__)
#define GPUOPT_MASKED_MEMORY
#include "gpuopt/kernels/masked_memory_host.h"
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
template <>
struct WordOf<64> {
  struct type {
    uint4 quarters[4];
  };
};
template <int Bytes>
struct IntegerOf;
template <>
struct IntegerOf<4> {
  using type = uint32_t;
};
template <>
struct IntegerOf<8> {
  using type = uint64_t;
};
template <>
struct IntegerOf<16> {
  using type = unsigned __int128;
};
template <class T>
constexpr int kAlignment = sizeof(T) * kLanes < 16 ? sizeof(T) * kLanes : 16;

// Returns elements of half precision in 32-bit registers. nvcc would store them
// two at a time if they stayed as they are.
template <class T>
DEVICE void pack(uint32_t (&words)[sizeof(T) * kLanes / 4],
                 const T (&v)[kLanes]) {
  if constexpr (sizeof(T) == 2) {
    UNROLL
    for (int k = 0; k < kLanes / 2; k++) {
      uint16_t low, high;
      memcpy(&low, &v[2 * k], 2);
      memcpy(&high, &v[2 * k + 1], 2);
      words[k] = low | uint32_t(high) << 16;
    }
  } else {
    memcpy(words, v, sizeof words);
  }
}

// Reads all lanes at once from an aligned address, in accesses of up to 16
// bytes.
template <class T>
DEVICE void read_vector(T (&v)[kLanes], const T *p) {
#ifdef GPUOPT_EMULATED
  return emulation::copy_vector<kAlignment<T>>(v, p, sizeof v, p);
#endif
  using Word = typename WordOf<sizeof(T) * kLanes>::type;
  const Word word = *reinterpret_cast<const Word *>(p);
  memcpy(v, &word, sizeof word);
}
// Writes all lanes at once to an aligned address. It writes integers, because
// nvcc takes the members of a uint4 apart and does not always put them together
// again.
template <class T>
DEVICE void write_vector(T *p, const T (&v)[kLanes]) {
#ifdef GPUOPT_EMULATED
  return emulation::copy_vector<kAlignment<T>>(p, v, sizeof v, p);
#endif
  constexpr int kBytes = sizeof(T) * kLanes;
  using Integer = typename IntegerOf<(kBytes < 16 ? kBytes : 16)>::type;
  uint32_t words[kBytes / 4];
  pack(words, v);
  UNROLL
  for (int k = 0; k < kBytes / int(sizeof(Integer)); k++) {
    Integer part;
    memcpy(&part, words + k * sizeof part / 4, sizeof part);
    reinterpret_cast<Integer *>(p)[k] = part;
  }
}

// Reads all lanes at once, as a vector where the address allows it.
template <class T>
DEVICE void read_all(T (&v)[kLanes], const T *p) {
  if (reinterpret_cast<uintptr_t>(p) % kAlignment<T> == 0) {
    read_vector(v, p);
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      v[k] = p[k];
  }
}
template <class T>
DEVICE void write_all(T *p, const T (&v)[kLanes]) {
  if (reinterpret_cast<uintptr_t>(p) % kAlignment<T> == 0) {
    write_vector(p, v);
  } else {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      p[k] = v[k];
  }
}

#else

template <class T>
DEVICE void read_vector(T (&v)[kLanes], const T *p) {
  memcpy(v, p, sizeof v);
}
template <class T>
DEVICE void write_vector(T *p, const T (&v)[kLanes]) {
  memcpy(p, v, sizeof v);
}
template <class T>
DEVICE void read_all(T (&v)[kLanes], const T *p) {
  read_vector(v, p);
}
template <class T>
DEVICE void write_all(T *p, const T (&v)[kLanes]) {
  write_vector(p, v);
}

#endif

#ifndef GPUOPT_MASKED_MEMORY
// Reads or writes the first n lanes and touches nothing behind them.
template <class T>
DEVICE void read_some(T (&v)[kLanes], const T *p, int64_t n) {
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = k < n ? p[k] : T{};
}
template <class T>
DEVICE void write_some(T *p, const T (&v)[kLanes], int64_t n) {
  UNROLL
  for (int k = 0; k < kLanes; k++)
    if (k < n)
      p[k] = v[k];
}
#endif

template <class T>
DEVICE void read(T (&v)[kLanes], const T *p, int64_t n) {
  if (n >= kLanes)
    read_all(v, p);
  else
    read_some(v, p, n);
}
template <class T>
DEVICE void write(T *p, const T (&v)[kLanes], int64_t n) {
  if (n >= kLanes)
    write_all(p, v);
  else
    write_some(p, v, n);
}

#ifndef __CUDACC__
// Goes a vector at a time: g++ copies larger objects in pieces, through the
// stack.
template <class T>
DEVICE Lanes<T> read_parts(const T *p) {
  Lanes<T> r;
  constexpr int width = kLanes / Lanes<T>::kParts;
  UNROLL
  for (int i = 0; i < Lanes<T>::kParts; i++)
    memcpy(&r.part[i], p + i * width, sizeof r.part[i]);
  return r;
}
template <class T>
DEVICE void write_parts(T *p, const Lanes<T> &x) {
  constexpr int width = kLanes / Lanes<T>::kParts;
  UNROLL
  for (int i = 0; i < Lanes<T>::kParts; i++)
    memcpy(p + i * width, &x.part[i], sizeof x.part[i]);
}
#endif

// Converts between lanes and an array of elements as they lie in memory.
template <class T>
DEVICE Lanes<T> widen_all(const T (&v)[kLanes]) {
  Lanes<T> r;
#ifdef __CUDACC__
  UNROLL
  for (int k = 0; k < kLanes; k++)
    r.part[k] = v[k];
#else
  r = read_parts(v);
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
  write_parts(v, x);
#endif
}

#ifdef __CUDACC__

template <class H>
DEVICE Lanes<float> widen_half(const H (&v)[kLanes]) {
  Lanes<float> r;
  UNROLL
  for (int k = 0; k < kLanes; k++)
    r.part[k] = widen(v[k]);
  return r;
}
DEVICE Lanes<float> widen_all(const bf16 (&v)[kLanes]) { return widen_half(v); }
DEVICE Lanes<float> widen_all(const f16 (&v)[kLanes]) { return widen_half(v); }
DEVICE void narrow_all(bf16 (&v)[kLanes], Lanes<float> x) {
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = narrow_bf16(x.part[k]);
}
DEVICE void narrow_all(f16 (&v)[kLanes], Lanes<float> x) {
  UNROLL
  for (int k = 0; k < kLanes; k++)
    v[k] = narrow_f16(x.part[k]);
}

#else

// Converts by parts, with intrinsics where there are some: g++ 12 takes vectors
// of 16 bits an element apart. Without a mask it warns of an undefined operand
// inside the intrinsics.
using Halves = VectorOf<uint16_t, kVectorBytes / 2>::type;
constexpr int kHalves = kVectorBytes / 4;
using Words = PartOf<uint32_t>;
#if defined(__AVX512F__)
constexpr __mmask16 kAllLanes = 0xffff;
#endif

DEVICE Words widen_words(Halves h) {
#if defined(__AVX512F__)
  return Words(_mm512_maskz_cvtepu16_epi32(kAllLanes, __m256i(h)));
#elif defined(__AVX2__)
  return Words(_mm256_cvtepu16_epi32(__m128i(h)));
#else
  return __builtin_convertvector(h, Words);
#endif
}
// Narrows words that are below 2^16.
DEVICE Halves narrow_words(Words x) {
#if defined(__AVX512F__)
  return Halves(_mm512_maskz_cvtepi32_epi16(kAllLanes, __m512i(x)));
#elif defined(__AVX2__)
  const __m256i packed = _mm256_packus_epi32(__m256i(x), __m256i(x));
  return Halves(_mm256_castsi256_si128(_mm256_permute4x64_epi64(packed, 0x08)));
#else
  return __builtin_convertvector(x, Halves);
#endif
}

DEVICE Lanes<float> widen_all(const bf16 (&v)[kLanes]) {
  Lanes<float> r;
  UNROLL
  for (int i = 0; i < r.kParts; i++) {
    Halves h;
    memcpy(&h, v + i * kHalves, sizeof h);
    r.part[i] = PartOf<float>(widen_words(h) << 16);
  }
  return r;
}
// Does narrow_bf16 on all lanes.
DEVICE void narrow_all(bf16 (&v)[kLanes], Lanes<float> x) {
  UNROLL
  for (int i = 0; i < x.kParts; i++) {
    const Words bits = Words(x.part[i]);
    const Words rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
    const Words is_nan = Words(x.part[i] != x.part[i]);
    const Halves h = narrow_words(
        ((is_nan & (bits | 0x400000u)) | (~is_nan & rounded)) >> 16);
    memcpy(v + i * kHalves, &h, sizeof h);
  }
}

#if defined(__F16C__)
DEVICE PartOf<float> widen_f16(Halves h) {
#if defined(__AVX512F__)
  return PartOf<float>(_mm512_maskz_cvtph_ps(kAllLanes, __m256i(h)));
#else
  return PartOf<float>(_mm256_cvtph_ps(__m128i(h)));
#endif
}
DEVICE Halves narrow_f16_part(PartOf<float> x) {
#if defined(__AVX512F__)
  return Halves(
      _mm512_maskz_cvtps_ph(kAllLanes, __m512(x), _MM_FROUND_TO_NEAREST_INT));
#else
  return Halves(_mm256_cvtps_ph(__m256(x), _MM_FROUND_TO_NEAREST_INT));
#endif
}
#else
DEVICE PartOf<float> widen_f16(Halves h) {
  PartOf<float> r;
  for (int k = 0; k < kHalves; k++)
    r[k] = widen(f16{h[k]});
  return r;
}
DEVICE Halves narrow_f16_part(PartOf<float> x) {
  Halves h;
  for (int k = 0; k < kHalves; k++)
    h[k] = narrow_f16(x[k]).bits;
  return h;
}
#endif

DEVICE Lanes<float> widen_all(const f16 (&v)[kLanes]) {
  Lanes<float> r;
  UNROLL
  for (int i = 0; i < r.kParts; i++) {
    Halves h;
    memcpy(&h, v + i * kHalves, sizeof h);
    r.part[i] = widen_f16(h);
  }
  return r;
}
DEVICE void narrow_all(f16 (&v)[kLanes], Lanes<float> x) {
  UNROLL
  for (int i = 0; i < x.kParts; i++) {
    const Halves h = narrow_f16_part(x.part[i]);
    memcpy(v + i * kHalves, &h, sizeof h);
  }
}

#endif

} // namespace detail

template <class T>
DEVICE Lanes<Compute<T>> load_vector(const T *p) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>)
    return detail::read_parts(p);
#endif
  T v[kLanes];
  detail::read_vector(v, p);
  return detail::widen_all(v);
}
template <class T>
DEVICE Lanes<Compute<T>> load(const T *p, int64_t n) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>) {
    if (n >= kLanes)
      return detail::read_parts(p);
#ifdef GPUOPT_MASKED_MEMORY
    return detail::read_some_parts(p, n);
#endif
  }
#endif
  T v[kLanes];
  detail::read(v, p, n);
  return detail::widen_all(v);
}
template <int Multiple, class T>
DEVICE Lanes<Compute<T>> load(const T *p, int64_t n) {
  if constexpr (Multiple % kLanes == 0)
    return n > 0 ? load_vector(p) : Lanes<Compute<T>>(0);
  else
    return load(p, n);
}

template <class T>
DEVICE void store_vector(T *p, Lanes<Compute<T>> x) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>)
    return detail::write_parts(p, x);
#endif
  T v[kLanes];
  detail::narrow_all(v, x);
  detail::write_vector(p, v);
}
template <class T>
DEVICE void store(T *p, Lanes<Compute<T>> x, int64_t n) {
#ifndef __CUDACC__
  if constexpr (std::is_same_v<T, Compute<T>>) {
    if (n >= kLanes)
      return detail::write_parts(p, x);
#ifdef GPUOPT_MASKED_MEMORY
    return detail::write_some_parts(p, x, n);
#endif
  }
#endif
  T v[kLanes];
  detail::narrow_all(v, x);
  detail::write(p, v, n);
}
template <int Multiple, class T>
DEVICE void store(T *p, Lanes<Compute<T>> x, int64_t n) {
  if constexpr (Multiple % kLanes != 0)
    store(p, x, n);
  else if (n > 0)
    store_vector(p, x);
}

// Returns x as a tensor of type H in memory would hold it.
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
using Bytes = VectorOf<uint8_t, kVectorBytes / 4>::type;
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

DEVICE Lanes<bool> load_mask_vector(const uint8_t *p) {
  uint8_t v[kLanes];
  detail::read_vector(v, p);
  return detail::widen_bytes(v) != Lanes<int32_t>(0);
}
DEVICE Lanes<bool> load_mask(const uint8_t *p, int64_t n) {
  uint8_t v[kLanes];
  detail::read(v, p, n);
  return detail::widen_bytes(v) != Lanes<int32_t>(0);
}
template <int Multiple>
DEVICE Lanes<bool> load_mask(const uint8_t *p, int64_t n) {
  if constexpr (Multiple % kLanes == 0)
    return n > 0 ? load_mask_vector(p) : Lanes<bool>(false);
  else
    return load_mask(p, n);
}
DEVICE void store_vector(uint8_t *p, Lanes<bool> x) {
  uint8_t v[kLanes];
  detail::narrow_bytes(v, select(x, Lanes<int32_t>(1), Lanes<int32_t>(0)));
  detail::write_vector(p, v);
}
DEVICE void store(uint8_t *p, Lanes<bool> x, int64_t n) {
  uint8_t v[kLanes];
  detail::narrow_bytes(v, select(x, Lanes<int32_t>(1), Lanes<int32_t>(0)));
  detail::write(p, v, n);
}
template <int Multiple>
DEVICE void store(uint8_t *p, Lanes<bool> x, int64_t n) {
  if constexpr (Multiple % kLanes != 0)
    store(p, x, n);
  else if (n > 0)
    store_vector(p, x);
}

// Reads p[k * stride] into lane k.
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

// Reads p[index[k]] into lane k.
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
