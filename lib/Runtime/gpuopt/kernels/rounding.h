// Sign, rounding, comparison, square roots: exact functions of float and
// double, written once for a scalar and for lanes (X is T or Lanes<T>), for the
// host and the device.
#pragma once

#include "gpuopt/kernels/lanes.h"
#ifdef __CUDACC__
#include "gpuopt/kernels/ptx_cuda.h"
#endif

#include <limits>

namespace gpuopt {

// The element type of X, and X with another element type.
template <class X>
struct ElementOf {
  using type = X;
  template <class U>
  using With = U;
};
template <class T>
struct ElementOf<Lanes<T>> {
  using type = T;
  template <class U>
  using With = Lanes<U>;
};
template <class X>
using Element = typename ElementOf<X>::type;
template <class X, class U>
using WithElement = typename ElementOf<X>::template With<U>;
template <class X>
using Bits =
    WithElement<X,
                std::conditional_t<sizeof(Element<X>) == 8, int64_t, int32_t>>;

template <class X>
DEVICE Bits<X> bits_of(X x) {
  if constexpr (std::is_same_v<X, Element<X>>)
    return bit_cast<Bits<X>>(x);
  else
    return bit_cast<Element<Bits<X>>>(x);
}
template <class X>
DEVICE X from_bits(Bits<X> x) {
  if constexpr (std::is_same_v<X, Element<X>>)
    return bit_cast<X>(x);
  else
    return bit_cast<Element<X>>(x);
}

template <class X>
constexpr bool is_float = std::is_floating_point_v<Element<X>>;
template <class X>
constexpr Element<Bits<X>> kSignBit =
    std::numeric_limits<Element<Bits<X>>>::min();

template <class T>
constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

template <class X>
DEVICE auto is_nan(X x) {
  return x != x;
}

template <class X>
DEVICE X abs(X x) {
  if constexpr (is_float<X>)
    return from_bits<X>(bits_of(x) & Bits<X>(~kSignBit<X>));
  else
    return select(x < X(0), X(0) - x, x);
}

template <class X>
DEVICE auto is_inf(X x) {
  return abs(x) == X(kInfinity<Element<X>>);
}

template <class X>
DEVICE X copysign(X magnitude, X sign) {
  return from_bits<X>((bits_of(magnitude) & Bits<X>(~kSignBit<X>)) |
                      (bits_of(sign) & Bits<X>(kSignBit<X>)));
}

// Returns -1, 0 or 1. A NaN stays a NaN, and a zero keeps its sign.
template <class X>
DEVICE X sign(X x) {
  return select(x > X(0), X(1), select(x < X(0), X(Element<X>(-1)), x));
}

// If either side is NaN, the result is NaN, as with numpy's minimum and
// maximum.
template <class X>
DEVICE X min_of(X a, X b) {
  if constexpr (is_float<X>)
    return select((a < b) | is_nan(a), a, b);
  else
    return select(a < b, a, b);
}
template <class X>
DEVICE X max_of(X a, X b) {
  if constexpr (is_float<X>)
    return select((a > b) | is_nan(a), a, b);
  else
    return select(a > b, a, b);
}
#ifdef __CUDACC__
// CUDA has an instruction for each. It takes +0 to be larger than -0.
DEVICE float min_of(float a, float b) { return ptx::min_nan(a, b); }
DEVICE float max_of(float a, float b) { return ptx::max_nan(a, b); }
DEVICE Lanes<float> min_of(Lanes<float> a, Lanes<float> b) {
  return map(a, b, [](float u, float v) { return ptx::min_nan(u, v); });
}
DEVICE Lanes<float> max_of(Lanes<float> a, Lanes<float> b) {
  return map(a, b, [](float u, float v) { return ptx::max_nan(u, v); });
}
#endif
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
DEVICE T min(T a, T b) {
  return min_of(a, b);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
DEVICE T max(T a, T b) {
  return max_of(a, b);
}
template <class T>
DEVICE Lanes<T> min(Lanes<T> a, Lanes<T> b) {
  return min_of(a, b);
}
template <class T>
DEVICE Lanes<T> min(Lanes<T> a, NotDeduced<T> b) {
  return min_of(a, Lanes<T>(b));
}
template <class T>
DEVICE Lanes<T> min(NotDeduced<T> a, Lanes<T> b) {
  return min_of(Lanes<T>(a), b);
}
template <class T>
DEVICE Lanes<T> max(Lanes<T> a, Lanes<T> b) {
  return max_of(a, b);
}
template <class T>
DEVICE Lanes<T> max(Lanes<T> a, NotDeduced<T> b) {
  return max_of(a, Lanes<T>(b));
}
template <class T>
DEVICE Lanes<T> max(NotDeduced<T> a, Lanes<T> b) {
  return max_of(Lanes<T>(a), b);
}

// Adding and subtracting 2^(digits - 1) rounds to even; a larger number has no
// fraction to round.
template <class X>
DEVICE X round_even(X x) {
  const X big(
      Element<X>(sizeof(Element<X>) == 8 ? 4503599627370496.0 : 8388608.0));
  const X a = abs(x);
  return select(a < big, copysign((a + big) - big, x), x);
}
template <class X>
DEVICE X floor(X x) {
  const X r = round_even(x);
  return copysign(r - select(r > x, X(1), X(0)), x);
}
template <class X>
DEVICE X ceil(X x) {
  const X r = round_even(x);
  return copysign(r + select(r < x, X(1), X(0)), x);
}
template <class X>
DEVICE X trunc(X x) {
  return copysign(floor(abs(x)), x);
}

// Rounded to nearest in every library.
DEVICE float sqrt(float x) { return ::sqrtf(x); }
DEVICE double sqrt(double x) { return ::sqrt(x); }
template <class T>
DEVICE Lanes<T> sqrt(Lanes<T> x) {
  return map(x, [](T v) { return sqrt(v); });
}

} // namespace gpuopt
