// The parts that elementary functions of float are made of: X is float or
// Lanes<float>.
#pragma once

#include "gpuopt/kernels/rounding.h"

namespace gpuopt::f32 {

// a b + c. CUDA rounds once, in one instruction. The host rounds the product as
// well, because not every processor has the instruction.
#ifdef __CUDACC__
DEVICE float multiply_add(float a, float b, float c) { return fmaf(a, b, c); }
DEVICE Lanes<float> multiply_add(Lanes<float> a, Lanes<float> b,
                                 Lanes<float> c) {
  UNROLL
  for (int i = 0; i < kLanes; i++)
    c.part[i] = fmaf(a.part[i], b.part[i], c.part[i]);
  return c;
}
#else
template <class X>
DEVICE X multiply_add(X a, X b, X c) {
  return a * b + c;
}
#endif

// c0 + c1 x + c2 x^2 + ...
template <class X>
DEVICE X polynomial(X, float c) {
  return X(c);
}
template <class X, class... C>
DEVICE X polynomial(X x, float c0, C... c) {
  return multiply_add(x, polynomial(x, c...), X(c0));
}

// (tanh(x) - x) / x^3 for |x| < 0.66, of z = x^2.
template <class X>
DEVICE X tanh_poly(X z) {
  return polynomial(z, -0.333332479f, 0.13330543f, -0.0536650494f,
                    0.0203979667f, -0.00543944212f);
}

// 2^n for integer n in [-126, 127].
template <class X, class N>
DEVICE X power_of_two(N n) {
  return from_bits<X>((n + N(127)) << N(23));
}

// Adding this to a number leaves the nearest integer in the sum's low bits.
constexpr float kRounder = 12582912.0f; // 1.5 * 2^23

// An argument x = n c + r with an integer n and |r| <= c / 2.
template <class X>
struct Reduced {
  Bits<X> n;
  X r;
};
// The same for e^x: c is ln 2. n ln2_hi is exact.
template <class X>
DEVICE Reduced<X> reduce_ln2(X x) {
  const X shifted = multiply_add(x, X(1.44269504f), X(kRounder));
  const X n = shifted - X(kRounder);
  return {
      bits_of(shifted) - bits_of(X(kRounder)),
      multiply_add(n, X(2.12194440e-4f), multiply_add(n, X(-0.693359375f), x))};
}

} // namespace gpuopt::f32
