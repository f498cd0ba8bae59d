// Those functions of float for which CUDA has instructions, by these: the
// multifunction unit computes 2^x, 1 / x and 1 / sqrt(x) to one or two units in
// the last place (ptx_cuda.h). The bounds below assume no more than that;
// test/Unit/Emulation/ElementaryTest.cpp asserts them. None has a branch, and
// all are for float alone: doubles never come here.
#pragma once

#include "gpuopt/kernels/elementary_parts.h"
#include "gpuopt/kernels/ptx_cuda.h"

namespace gpuopt::f32 {

// At most 2.2 ulp; subnormal arguments too.
DEVICE float rsqrt(float x) { return ptx::rsqrt(x); }

// a / b for b >= 2^-100, to at most 3.5 ulp where the result is normal, and 6.5
// where b is above 2^126 as well. The unit gives zero for a reciprocal that is
// subnormal, so b is scaled down and the reciprocal, too: multiplications keep
// subnormal numbers.
DEVICE float fast_divide(float a, float b) {
  constexpr float kScale = 0x1p-24f;
  return a * (ptx::reciprocal(b * kScale) * kScale);
}

// At most 5 ulp. x = (n + f) ln 2 and e^x = 2^n 2^f. Where n would leave the
// range of exponents, f becomes large in its place, and so 2^f small, zero or
// infinite.
DEVICE float exp(float x) {
  const float zero = kRounder + 127, // whose low bits are those of 2^0
      shifted =
          fminf(fmaxf(fmaf(x, 1.44269502f, zero), zero - 126), zero + 127);
  const float n = shifted - zero,
              f = fmaf(x, 1.92596303e-8f, fmaf(x, 1.44269502f, -n));
  return ptx::exp2(f) * from_bits<float>(bits_of(shifted) << 23);
}

// e^x of numbers that come from half precision, whose rounding moves e^x by
// 2^-12 |x|: at most 5 + 1.25 |x| ulp, since the exponent of 2 is rounded.
// Results below 2^-126 are zero.
DEVICE float fast_exp(float x) { return ptx::exp2(x * 1.44269502f); }

// x >= 0, with the sign of `sign`.
DEVICE float with_sign(float x, float sign) {
  return from_bits<float>(bits_of(x) | (bits_of(sign) & kSignBit<float>));
}

// At most 4 ulp. Both forms are computed, because a warp would wait for both
// branches. So it is in erf.
DEVICE float tanh(float x) {
  const float a = fabsf(x), z = x * x;
  const float large =
      fmaf(-2, ptx::reciprocal(ptx::exp2(2.88539008f * a) + 1), 1);
  return select(a < 0.625f, fmaf(x, z * tanh_poly(z), x), with_sign(large, x));
}

// The same without a form for small x: at most 5e-7 off, which may be all of a
// result that is nearly 0.
DEVICE float fast_tanh(float x) {
  return with_sign(
      fmaf(-2, ptx::reciprocal(ptx::exp2(2.88539008f * fabsf(x)) + 1), 1), x);
}

// erf(x) / x - 1 for |x| < 1, of z = x^2.
DEVICE float erf_poly(float z) {
  return polynomial(z, 0.128379166f, -0.37612626f, 0.112835854f, -0.026853811f,
                    0.00518832775f, -0.000801019254f, 7.8538571e-05f);
}
// At most 2 ulp.
DEVICE float erf(float x) {
  const float a = fabsf(x);
  // -log2(1 - erf(a)) for a in [0.95, 4.1]; beyond that it grows, to infinity.
  const float q = polynomial(a, -0.000253307342f, 1.62954402f, 0.913750768f,
                             0.156155825f, -0.0361695737f, 0.00597077096f,
                             -0.000608767383f, 2.66937277e-05f, 3.2340526e-07f);
  return select(a < 1, fmaf(x, erf_poly(x * x), x),
                with_sign(1 - ptx::exp2(-q), x));
}

#define GPUOPT_LANES_OF(name)                                                  \
  DEVICE Lanes<float> name(Lanes<float> x) {                                   \
    return map(x, [](float v) { return f32::name(v); });                       \
  }
GPUOPT_LANES_OF(rsqrt)
GPUOPT_LANES_OF(exp)
GPUOPT_LANES_OF(fast_exp)
GPUOPT_LANES_OF(tanh)
GPUOPT_LANES_OF(fast_tanh)
GPUOPT_LANES_OF(erf)
#undef GPUOPT_LANES_OF

DEVICE Lanes<float> fast_divide(Lanes<float> a, Lanes<float> b) {
  return map(a, b, [](float u, float v) { return f32::fast_divide(u, v); });
}

} // namespace gpuopt::f32
