// Those functions of float for which CUDA has instructions (elementary_cuda.h),
// as the host computes them: X is float or Lanes<float>.
#pragma once

#include "gpuopt/kernels/elementary_parts.h"

namespace gpuopt::f32 {

template <class X>
DEVICE X rsqrt(X x) { // not an estimate
  return X(1) / sqrt(x);
}

// a / b for b >= 2^-100.
template <class X>
DEVICE X fast_divide(X a, X b) {
  return a / b;
}

// At most 1.3 ulp.
template <class X>
DEVICE X exp(X x) {
  x = select(x > X(89.0f), X(89.0f), select(x < X(-105.0f), X(-105.0f), x));
  const auto [n, r] = reduce_ln2(x);
  const X p =
      polynomial(r, 0.49999994f, 0.166665211f, 0.041668389f, 0.00836871006f,
                 0.00138146116f);       // (e^r - 1 - r) / r^2
  const Bits<X> half = n >> Bits<X>(1); // in two steps: n may be -151 or 128
  return (X(1) + (r + r * r * p)) * power_of_two<X>(half) *
         power_of_two<X>(n - half);
}

// For CUDA's function of this name.
template <class X>
DEVICE X fast_exp(X x) {
  return f32::exp(x);
}

// At most 2 ulp.
template <class X>
DEVICE X tanh(X x) {
  const X a = abs(x), z = x * x;
  const X large = X(1) - X(2) / (f32::exp(a + a) + X(1));
  return select(a < X(0.625f), x + x * z * tanh_poly(z), copysign(large, x));
}

// For CUDA's function of this name.
template <class X>
DEVICE X fast_tanh(X x) {
  return f32::tanh(x);
}

// The coefficients of one power of two polynomials.
struct CoefficientPair {
  float first, second;
};
// The first polynomial where `is_first` holds, and the second one elsewhere.
template <class M, class X>
DEVICE X either_polynomial(M is_first, X, CoefficientPair c) {
  return select(is_first, X(c.first), X(c.second));
}
template <class M, class X, class... C>
DEVICE X either_polynomial(M is_first, X x, CoefficientPair c0, C... c) {
  return multiply_add(x, either_polynomial(is_first, x, c...),
                      select(is_first, X(c0.first), X(c0.second)));
}

// At most 2.8 ulp. One polynomial is erf(x) / x of x^2 - 2 for |x| < 2.1, the
// other is erf(|x|) of |x| - 3 up to 3.92, from where on it is 1. Choosing a
// coefficient takes one instruction, so both take little longer than one.
template <class X>
DEVICE X erf(X x) {
  const X a = abs(x);
  const auto is_small = a < X(2.1f);
  const X t =
      select(is_small, a * a - X(2), select(a > X(3.92f), X(3.92f), a) - X(3));
  const X p = either_polynomial(
      is_small, t, CoefficientPair{0.674933255f, 0.999977946f},
      CoefficientPair{-0.130555883f, 0.000139198004f},
      CoefficientPair{0.0298697297f, -0.000418689073f},
      CoefficientPair{-0.00608299905f, 0.000790261955f},
      CoefficientPair{0.00107063388f, -0.00103545829f},
      CoefficientPair{-0.00016345951f, 0.00100929639f},
      CoefficientPair{2.18729238e-05f, -0.000767768361f},
      CoefficientPair{-2.65750714e-06f, 0.00040989308f},
      CoefficientPair{3.04550099e-07f, -9.56038421e-05f},
      CoefficientPair{-2.41926497e-08f, -9.50310823e-06f});
  return select(is_small, x * p, copysign(p, x));
}

} // namespace gpuopt::f32
