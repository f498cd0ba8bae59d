// Lanes<T>: a fixed number of elements that are computed in step.
//
// Kernels are written for any number of lanes and any number of threads in a
// block. The host runs one thread a block with 16 lanes, held in the vector
// registers of the processor at hand; CUDA runs 4 lanes a thread, or 8 in
// programs with half precision, so that a thread moves 16 bytes at a time. The
// number of lanes, never the width of the hardware, decides in which order a
// reduction adds: the bits do not depend on which processor runs the program.
#pragma once

#include "gpuopt/kernels/types.h"

#include <cmath>
#include <type_traits>
#include <utility>

#if !defined(__CUDACC__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wpsabi" // all of these are inlined
#elif defined(__clang__)
#pragma clang diagnostic ignored                                               \
    "-Wbitwise-instead-of-logical" // scalars read as lanes do
#endif

namespace gpuopt {

#ifdef __CUDACC__
#define UNROLL _Pragma("unroll")
#ifndef GPUOPT_LANES // step.h says so
#define GPUOPT_LANES 4
#endif
constexpr int kLanes = GPUOPT_LANES;
template <class T>
using PartOf = T; // a part is one element
#else
#define UNROLL _Pragma("GCC unroll 16")
constexpr int kLanes = 16;
#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif
template <class T, int Bytes>
struct VectorOf {
  typedef T type __attribute__((vector_size(Bytes)));
};
template <int Bytes>
struct VectorOf<bool, Bytes> : VectorOf<int32_t, Bytes> {}; // 0 or -1
template <class T>
using PartOf = typename VectorOf<T, kVectorBytes>::type;
#endif

template <class T>
struct Lanes;
#ifdef __CUDACC__
DEVICE Lanes<bool> to_mask(Lanes<bool> x);
#else
DEVICE Lanes<bool> to_mask(Lanes<int32_t> x);
DEVICE Lanes<bool> to_mask(Lanes<int64_t> x);
#endif

template <class T>
struct Lanes {
  using Part = PartOf<T>;
#ifdef __CUDACC__
  static constexpr int kParts = kLanes;
#else
  static constexpr int kParts =
      kLanes *
      int(sizeof(std::conditional_t<std::is_same_v<T, bool>, int32_t, T>)) /
      kVectorBytes;
#endif
  Part part[kParts];

  Lanes() = default;
  DEVICE Lanes(T x) {
    UNROLL
    for (int i = 0; i < kParts; i++)
      part[i] = splat(x);
  }
  DEVICE static Part splat(T x) {
#ifdef __CUDACC__
    return x;
#else
    if constexpr (std::is_same_v<T, bool>)
      return Part{} - int32_t(x);
    else
      return x - Part{}; // x + 0 would lose the sign of -0
#endif
  }

#define GPUOPT_BINARY(op)                                                      \
  friend DEVICE Lanes operator op(Lanes a, Lanes b) {                          \
    Lanes r;                                                                   \
    UNROLL                                                                     \
    for (int i = 0; i < kParts; i++)                                           \
      r.part[i] = Part(a.part[i] op b.part[i]);                                \
    return r;                                                                  \
  }
  GPUOPT_BINARY(+)
  GPUOPT_BINARY(-)
  GPUOPT_BINARY(*)
  GPUOPT_BINARY(&)
  GPUOPT_BINARY(|)
  GPUOPT_BINARY(^)
  GPUOPT_BINARY(<<)
  GPUOPT_BINARY(>>)
#undef GPUOPT_BINARY

#define GPUOPT_UNARY(op, body)                                                 \
  friend DEVICE Lanes operator op(Lanes a) {                                   \
    Lanes r;                                                                   \
    UNROLL                                                                     \
    for (int i = 0; i < kParts; i++)                                           \
      r.part[i] = body;                                                        \
    return r;                                                                  \
  }
  GPUOPT_UNARY(-, Part(-a.part[i]))
  GPUOPT_UNARY(~, Part(~a.part[i]))
#ifdef __CUDACC__
  GPUOPT_UNARY(!, Part(!a.part[i]))
#else
  GPUOPT_UNARY(!, Part(a.part[i] == 0)) // a mask's negation
#endif
#undef GPUOPT_UNARY

  // An integer's division by zero, or of the least number by -1, would trap in
  // processors, even in the lanes past the end of a row. So a division by zero
  // is one by one, and one by -1 is a negation that wraps.
  friend DEVICE Lanes operator/(Lanes a, Lanes b) {
    if constexpr (std::is_integral_v<T>) {
      const Lanes r = quotient(a, harmless(b));
      if constexpr (std::is_signed_v<T>) {
        using U = std::make_unsigned_t<T>;
        return select(b == Lanes(T(-1)),
                      bit_cast<T>(Lanes<U>(U(0)) - bit_cast<U>(a)), r);
      }
      return r;
    } else {
      return quotient(a, b);
    }
  }
  friend DEVICE Lanes operator%(Lanes a, Lanes b) {
    b = harmless(b);
    return a - quotient(a, b) * b;
  }

#define GPUOPT_COMPARE(op)                                                     \
  friend DEVICE Lanes<bool> operator op(Lanes a, Lanes b) {                    \
    MaskLanes<T> r;                                                            \
    UNROLL                                                                     \
    for (int i = 0; i < kParts; i++)                                           \
      r.part[i] = (typename MaskLanes<T>::Part)(a.part[i] op b.part[i]);       \
    return to_mask(r);                                                         \
  }
  GPUOPT_COMPARE(==)
  GPUOPT_COMPARE(!=)
  GPUOPT_COMPARE(<)
  GPUOPT_COMPARE(<=)
  GPUOPT_COMPARE(>)
  GPUOPT_COMPARE(>=)
#undef GPUOPT_COMPARE

#define GPUOPT_ASSIGN(op)                                                      \
  DEVICE Lanes &operator op## = (Lanes b) { return *this = *this op b; }
  GPUOPT_ASSIGN(+)
  GPUOPT_ASSIGN(-)
  GPUOPT_ASSIGN(*)
  GPUOPT_ASSIGN(/)
  GPUOPT_ASSIGN(&)
  GPUOPT_ASSIGN(|)
  GPUOPT_ASSIGN(^)
#undef GPUOPT_ASSIGN

private:
  static DEVICE Lanes quotient(Lanes a, Lanes b) {
    Lanes r;
    UNROLL
    for (int i = 0; i < kParts; i++)
      r.part[i] = a.part[i] / b.part[i];
    return r;
  }
  // Returns 1 for the divisors that may trap: 0, and -1 of signed integers.
  static DEVICE Lanes harmless(Lanes b) {
    Lanes<bool> traps = b == Lanes(T(0));
    if constexpr (std::is_signed_v<T>)
      traps = traps | (b == Lanes(T(-1)));
    return select(traps, Lanes(T(1)), b);
  }

  // A comparison gives a mask as wide as what was compared; Lanes<bool> has
  // one width.
#ifdef __CUDACC__
  template <class U>
  using MaskLanes = Lanes<bool>;
#else
  template <class U>
  using MaskLanes =
      Lanes<std::conditional_t<sizeof(U) == 8 && !std::is_same_v<U, bool>,
                               int64_t, int32_t>>;
#endif
};

// Returns the same bits as another type of the same size.
template <class To, class From>
DEVICE Lanes<To> bit_cast(const Lanes<From> &x) {
  Lanes<To> r;
  static_assert(sizeof r == sizeof x, "bit_cast keeps the size");
  // Part by part: g++ copies larger objects in pieces, through the stack.
  UNROLL
  for (int i = 0; i < Lanes<To>::kParts; i++)
    r.part[i] = bit_cast<typename Lanes<To>::Part>(x.part[i]);
  return r;
}

#ifdef __CUDACC__

template <class To, class From>
DEVICE Lanes<To> convert(Lanes<From> x) {
  Lanes<To> r;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    if constexpr (std::is_same_v<To, bool>)
      r.part[i] = x.part[i] != From(0);
    else
      r.part[i] = static_cast<To>(x.part[i]);
  return r;
}
DEVICE Lanes<bool> to_mask(Lanes<bool> x) { return x; }
template <class T>
DEVICE Lanes<T> select(Lanes<bool> mask, Lanes<T> a, Lanes<T> b) {
  Lanes<T> r;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    r.part[i] = mask.part[i] ? a.part[i] : b.part[i];
  return r;
}
template <class T>
DEVICE T lane(const Lanes<T> &x, int i) {
  return x.part[i];
}
template <class T>
DEVICE void set_lane(Lanes<T> &x, int i, T value) {
  x.part[i] = value;
}

#else

namespace detail {
template <class V, size_t... I>
DEVICE auto low_half(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, I...);
}
template <class V, size_t... I>
DEVICE auto high_half(V v, std::index_sequence<I...>) {
  return __builtin_shufflevector(v, v, (I + sizeof...(I))...);
}
template <class H, size_t... I>
DEVICE auto join(H a, H b, std::index_sequence<I...>) {
  return __builtin_shufflevector(a, b, I...);
}
} // namespace detail

// Converts to another type. Between types of one width it goes part by part; to
// a type twice as wide each part becomes two, and to one half as wide two parts
// become one.
template <class To, class From>
DEVICE Lanes<To> convert_parts(Lanes<From> x) {
  using ToPart = typename Lanes<To>::Part;
  Lanes<To> r;
  if constexpr (sizeof(To) == sizeof(From)) {
    UNROLL
    for (int i = 0; i < r.kParts; i++)
      r.part[i] = __builtin_convertvector(x.part[i], ToPart);
  } else if constexpr (sizeof(To) > sizeof(From)) {
    constexpr std::make_index_sequence<kVectorBytes / sizeof(To)> half;
    UNROLL
    for (int i = 0; i < x.kParts; i++) {
      r.part[2 * i] =
          __builtin_convertvector(detail::low_half(x.part[i], half), ToPart);
      r.part[2 * i + 1] =
          __builtin_convertvector(detail::high_half(x.part[i], half), ToPart);
    }
  } else {
    using Half = typename VectorOf<To, kVectorBytes / 2>::type;
    UNROLL
    for (int i = 0; i < r.kParts; i++)
      r.part[i] =
          detail::join(__builtin_convertvector(x.part[2 * i], Half),
                       __builtin_convertvector(x.part[2 * i + 1], Half),
                       std::make_index_sequence<kVectorBytes / sizeof(To)>());
  }
  return r;
}

DEVICE Lanes<bool> to_mask(Lanes<int32_t> x) { return bit_cast<bool>(x); }
DEVICE Lanes<bool> to_mask(Lanes<int64_t> x) {
  return bit_cast<bool>(convert_parts<int32_t>(x));
}

template <class T>
DEVICE Lanes<T> select(Lanes<bool> mask, Lanes<T> a, Lanes<T> b) {
  Lanes<T> r;
  if constexpr (std::is_same_v<T, bool>) {
    return (mask & a) | (!mask & b);
  } else if constexpr (sizeof(T) == 8) {
    const auto wide = convert_parts<int64_t>(bit_cast<int32_t>(mask));
    UNROLL
    for (int i = 0; i < r.kParts; i++)
      r.part[i] = wide.part[i] ? a.part[i] : b.part[i];
  } else {
    UNROLL
    for (int i = 0; i < r.kParts; i++)
      r.part[i] = mask.part[i] ? a.part[i] : b.part[i];
  }
  return r;
}

template <class To, class From>
DEVICE Lanes<To> convert(Lanes<From> x) {
  if constexpr (std::is_same_v<To, From>)
    return x;
  else if constexpr (std::is_same_v<To, bool>)
    return x != Lanes<From>(From(0));
  else if constexpr (std::is_same_v<From, bool>)
    return select(x, Lanes<To>(To(1)), Lanes<To>(To(0)));
  else
    return convert_parts<To>(x);
}

template <class T>
DEVICE T lane(const Lanes<T> &x, int i) {
  constexpr int width = kLanes / Lanes<T>::kParts;
  return T(x.part[i / width][i % width]);
}
template <class T>
DEVICE void set_lane(Lanes<T> &x, int i, T value) {
  constexpr int width = kLanes / Lanes<T>::kParts;
  x.part[i / width][i % width] = value;
}
DEVICE void set_lane(Lanes<bool> &x, int i, bool value) {
  constexpr int width = kLanes / Lanes<bool>::kParts;
  x.part[i / width][i % width] = -int32_t(value);
}

#endif

// The same functions for one element, so that code for uniform values reads
// like the rest.
template <class To, class From,
          class = std::enable_if_t<std::is_arithmetic_v<From>>>
HOST_DEVICE To convert(From x) {
  if constexpr (std::is_same_v<To, bool>)
    return x != From(0);
  else
    return static_cast<To>(x);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
HOST_DEVICE T select(bool mask, T a, T b) {
  return mask ? a : b;
}
// Divides integers as lanes do: by 0 as by 1, and by -1 with a wrap.
template <class T>
HOST_DEVICE T divide(T a, T b) {
  using U = std::make_unsigned_t<T>;
  if (std::is_signed_v<T> && b == T(-1))
    return T(U(0) - U(a));
  return a / (b == T(0) ? T(1) : b);
}
template <class T>
HOST_DEVICE T remainder(T a, T b) {
  const bool traps = b == T(0) || (std::is_signed_v<T> && b == T(-1));
  return traps ? T(0) : a % b;
}
// Chooses between two values; one of them, or both, may be the same in all
// lanes.
template <class T>
struct Identity {
  using type = T;
};
template <class T>
using NotDeduced = typename Identity<T>::type;
template <class T>
DEVICE Lanes<T> select(Lanes<bool> mask, Lanes<T> a, NotDeduced<T> b) {
  return select(mask, a, Lanes<T>(b));
}
template <class T>
DEVICE Lanes<T> select(Lanes<bool> mask, NotDeduced<T> a, Lanes<T> b) {
  return select(mask, Lanes<T>(a), b);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
DEVICE Lanes<T> select(Lanes<bool> mask, T a, T b) {
  return select(mask, Lanes<T>(a), Lanes<T>(b));
}

// Calls f for each lane, where no vector form exists.
template <class T, class F>
DEVICE Lanes<T> map(Lanes<T> x, F f) {
  Lanes<T> r;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    set_lane(r, i, T(f(lane(x, i))));
  return r;
}
template <class T, class F>
DEVICE Lanes<T> map(Lanes<T> x, Lanes<T> y, F f) {
  Lanes<T> r;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    set_lane(r, i, T(f(lane(x, i), lane(y, i))));
  return r;
}

// Returns start, start + 1, ... in T.
template <class T>
DEVICE Lanes<T> iota(T start) {
  Lanes<T> r;
  UNROLL
  for (int i = 0; i < kLanes; i++)
    set_lane(r, i, T(i));
  return r + Lanes<T>(start);
}

// Returns which lane has the place `at`, where lane k has start + k; none, if
// another vector has it.
DEVICE Lanes<bool> is_at(int64_t start, int64_t at) {
  const uint64_t distance = uint64_t(at) - uint64_t(start);
  return iota<int32_t>(0) ==
         Lanes<int32_t>(distance < kLanes ? int32_t(distance) : kLanes);
}

// Returns x less `value` in the lane that has the place `at`, where lane k has
// start + k. CUDA branches: only one vector of a row has it.
template <class T>
DEVICE Lanes<T> minus_at(Lanes<T> x, int64_t start, int64_t at,
                         NotDeduced<T> value) {
#ifdef __CUDACC__
  const uint64_t distance = uint64_t(at) - uint64_t(start);
  if (distance < kLanes) {
    UNROLL
    for (int k = 0; k < kLanes; k++)
      x.part[k] -= int(distance) == k ? value : T(0);
  }
  return x;
#else
  return x - select(is_at(start, at), value, T(0));
#endif
}

// Returns which lanes lie within the next n elements.
DEVICE Lanes<bool> first(int64_t n) {
  const int32_t count = n < kLanes ? int32_t(n) : kLanes;
  return iota<int32_t>(0) < Lanes<int32_t>(count);
}

// Returns v, with `identity` in the lanes that lie past the next n elements.
template <class T>
DEVICE Lanes<T> masked(Lanes<T> v, int64_t n, NotDeduced<T> identity) {
  return n >= kLanes ? v : select(first(n), v, Lanes<T>(identity));
}
// The same for an n that is a multiple of `Multiple`.
template <int Multiple, class T>
DEVICE Lanes<T> masked(Lanes<T> v, int64_t n, NotDeduced<T> identity) {
  if constexpr (Multiple % kLanes == 0)
    return n > 0 ? v : Lanes<T>(identity);
  else
    return masked(v, n, identity);
}

} // namespace gpuopt
