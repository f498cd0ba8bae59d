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

// At most 2 ulp.
template <class X>
DEVICE X tanh(X x) {
  const X a = abs(x), z = x * x;
  const X large = X(1) - X(2) / (f32::exp(a + a) + X(1));
  return select(a < X(0.625f), x + x * z * tanh_poly(z), copysign(large, x));
}

// At most 2 ulp.
template <class X>
DEVICE X erf(X x) {
  const X a = abs(x);
  const X t = select(a > X(4.0f), X(4.0f), a);
  const X q = polynomial(t, -0.000175579276f, 1.12951386f, 0.633363783f,
                         0.108238965f, -0.0250708386f, 0.0041386229f,
                         -0.000421965378f, 1.8502682e-05f,
                         2.24167437e-07f); // -log(1 - erf(t)), t in [0.95, 4.1]
  return select(a < X(1), x + x * erf_poly(x * x),
                copysign(X(1) - f32::exp(X(0) - q), x));
}

} // namespace gpuopt::f32
