// Elementary functions of float and double, for a scalar and for lanes.
//
// The functions of float are short and have no branches or library calls: the
// same operations in the same order on a scalar and on lanes, so neither the
// vector library of a compiler nor the end of a row changes a bit. CUDA differs
// from the host in exp, tanh, erf, rsqrt and what is fast (elementary_cuda.h)
// and in that it multiplies and adds in one instruction; every host computes
// the same bits. The largest error of each, in units in the last place, is
// asserted in test/Unit/Runtime/ElementaryTest.cpp and, of CUDA, in
// test/Unit/Emulation/ElementaryTest.cpp. Polynomials are minimax fits by
// iteratively reweighted least squares over the interval given beside each. The
// functions of double call the C library lane by lane.
#pragma once

#ifdef __CUDACC__
#include "gpuopt/kernels/elementary_cuda.h"
#else
#include "gpuopt/kernels/elementary_host.h"
#endif

namespace gpuopt {

namespace f32 { // X is float or Lanes<float>

template <class X>
DEVICE X infinity() {
  return X(kInfinity<float>);
}
template <class X>
DEVICE X nan() {
  return X(kNaN<float>);
}

template <class X>
DEVICE X expm1(X x) {
  const X small = x;
  x = select(x > X(89.0f), X(89.0f), select(x < X(-25.0f), X(-25.0f), x));
  const auto [n, r] = reduce_ln2(x);
  const X p = polynomial(r, 0.5f, 0.166666657f, 0.0416663624f, 0.00833338965f,
                         0.00139406172f, 0.000198458743f);
  const X half = power_of_two<X>(n - Bits<X>(1));
  const X y =
      X(2) * multiply_add(half, multiply_add(r * r, p, r), half - X(0.5f));
  return select(abs(small) < X(1e-10f), small, y);
}

// m 2^e with m in [sqrt(1/2), sqrt(2)); log(m) = f - f^2/2 + f^3 P(f), f = m
// - 1.
template <class X>
DEVICE X log(X x) {
  const auto subnormal = x < X(1.17549435e-38f);
  const Bits<X> sqrt_half(0x3f3504f3);
  const Bits<X> shifted =
      bits_of(select(subnormal, x * X(8388608.0f), x)) - sqrt_half;
  const X e =
      convert<float>(shifted >> Bits<X>(23)) - select(subnormal, X(23), X(0));
  const X f = from_bits<X>((shifted & Bits<X>(0x7fffff)) + sqrt_half) - X(1);
  const X p = polynomial(f, 0.333333135f, -0.250000089f, 0.200021192f,
                         -0.166679963f, 0.142195508f, -0.124055922f,
                         0.118881769f, -0.116756372f, 0.0674659237f);
  const X square = f * f;
  const X low = multiply_add(square * f, p, e * X(-2.12194440e-4f));
  const X y =
      multiply_add(e, X(0.693359375f), f - multiply_add(X(0.5f), square, -low));
  const X special =
      select(x == X(0), X(0) - infinity<X>(), select(x > X(0), x, nan<X>()));
  return select((x > X(0)) & (x < infinity<X>()), y, special);
}

// log1p(x) is log(u) with u = fl(1 + x), plus what the rounding of u lost.
template <class X>
DEVICE X log1p(X x) {
  const X u = X(1) + x;
  const X lost = f32::fast_divide(x - (u - X(1)), u);
  const X y = f32::log(u);
  return select((abs(x) < X(1e-10f)) | (x == infinity<X>()), x,
                select(u > X(0), y + lost, y));
}

// x = q pi/2 + r, |r| <= pi/4, reduced in double: good to 1e-7 for |x| < 1e8.
// The error grows with |x|, and above 1e16 nothing is left of r. It stays below
// 0.7854 all the same, so that a sine or cosine is never outside [-1, 1].
template <class X>
DEVICE Reduced<X> reduce_half_pi(X x) {
  using D = WithElement<X, double>;
  const D wide = convert<double>(x);
  const D n = round_even(wide * D(0.63661977236758134));
  const D r =
      (wide - n * D(1.5707963267341256)) - n * D(6.0771005065061922e-11);
  // Infinities and NaN have no quadrant (and no integer); r is NaN for them.
  const D quadrant = n - D(4) * floor(n * D(0.25));
  const D most(0.7854);
  return {convert<int32_t>(select(quadrant == quadrant, quadrant, D(0))),
          convert<float>(select(r > most, most, select(r < -most, -most, r)))};
}
template <class X>
DEVICE X sine_poly(X r) {
  const X z = r * r;
  return r + r * z *
                 polynomial(z, -0.166666672f, 0.00833332911f, -0.000198393347f,
                            2.71831163e-06f);
}
template <class X>
DEVICE X cosine_poly(X r) {
  const X z = r * r;
  return (X(1) - X(0.5f) * z) + z * z *
                                    polynomial(z, 0.0416666679f,
                                               -0.00138888834f, 2.47995195e-05f,
                                               -2.72102369e-07f);
}
// sin(r + q pi/2)
template <class X>
DEVICE X sine_of(Bits<X> q, X r) {
  using Q = Bits<X>;
  const X y = select((q & Q(1)) == Q(0), sine_poly(r), cosine_poly(r));
  return select((q & Q(2)) == Q(0), y, X(0) - y);
}
template <class X>
DEVICE X sin(X x) {
  const auto [q, r] = reduce_half_pi(x);
  return select(x == X(0), x, sine_of(q, r));
}
template <class X>
DEVICE X cos(X x) {
  const auto [q, r] = reduce_half_pi(x);
  return sine_of(q + Bits<X>(1), r);
}
template <class X>
DEVICE X tan(X x) {
  const auto [q, r] = reduce_half_pi(x);
  return select(x == X(0), x, sine_of(q, r) / sine_of(q + Bits<X>(1), r));
}

// e^a / 2 as the product of two halves, which does not overflow too early.
template <class X>
DEVICE X sinh(X x) {
  const X a = abs(x), z = x * x, half = f32::exp(X(0.5f) * a);
  const X p = polynomial(z, 0.166666672f, 0.00833335053f, 0.000198360663f,
                         2.81743974e-06f);
  const X large = (X(0.5f) * half) * half - X(0.5f) / (half * half);
  return select(a < X(1), x + x * z * p, copysign(large, x));
}
template <class X>
DEVICE X cosh(X x) {
  const X half = f32::exp(X(0.5f) * abs(x));
  return (X(0.5f) * half) * half + X(0.5f) / (half * half);
}

template <class X>
DEVICE X asin_poly(X x) { // |x| <= 1/2
  const X z = x * x;
  return x + x * z *
                 polynomial(z, 0.166666597f, 0.0750051066f, 0.0445157215f,
                            0.0318176076f, 0.0144026177f, 0.0375651866f);
}
// Above 1/2: asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2)).
template <class X>
DEVICE X asin(X x) {
  const X a = abs(x);
  const X far = X(1.57079633f) - X(2) * asin_poly(sqrt(X(0.5f) * (X(1) - a)));
  return select(a < X(0.5f), asin_poly(x), copysign(far, x));
}
template <class X>
DEVICE X acos(X x) {
  const X a = abs(x);
  const X far = X(2) * asin_poly(sqrt(X(0.5f) * (X(1) - a)));
  const X near = X(1.57079633f) - (asin_poly(x) - X(-4.37113883e-8f));
  return select(a < X(0.5f), near, select(x > X(0), far, X(3.14159265f) - far));
}
template <class X>
DEVICE X atan(X x) {
  const X a = abs(x);
  const auto large = a > X(2.41421356f), middle = a > X(0.414213562f);
  const X t =
      select(large, X(-1.0f) / a, select(middle, (a - X(1)) / (a + X(1)), a));
  const X base =
      select(large, X(1.57079633f), select(middle, X(0.785398163f), X(0)));
  const X z = t * t;
  const X p = polynomial(z, -0.333333313f, 0.199999005f, -0.142819107f,
                         0.110433839f, -0.0846842304f, 0.0472678244f);
  return copysign(base + (t + t * z * p), x);
}

template <class X>
DEVICE X asinh(X x) {
  const X a = abs(x), z = a * a;
  const X near = f32::log1p(a + z / (X(1) + sqrt(z + X(1))));
  return copysign(select(a > X(1e9f), f32::log(a) + X(0.693147181f), near), x);
}
template <class X>
DEVICE X acosh(X x) {
  const X t = x - X(1);
  const X near = f32::log1p(t + sqrt(t * (x + X(1))));
  const X y = select(x > X(1e9f), f32::log(x) + X(0.693147181f), near);
  return select(x < X(1), nan<X>(), y);
}
template <class X>
DEVICE X atanh(X x) {
  const X a = abs(x);
  return copysign(X(0.5f) * f32::log1p((a + a) / (X(1) - a)), x);
}

// Computes 2^(y log2 |x|) in double, and then the special cases that C's pow
// lists.
template <class X>
DEVICE X pow(X x, X y) {
  using D = WithElement<X, double>;
  using N = Bits<D>;
  const N sqrt_half(0x3fe6a09e667f3bcdLL);
  const N shifted = bits_of(convert<double>(abs(x))) - sqrt_half;
  const D e = convert<double>(convert<int32_t>(shifted >> N(52)));
  const D m = from_bits<D>((shifted & N(0xfffffffffffffLL)) + sqrt_half);
  const D s = (m - D(1)) / (m + D(1)), z = s * s;
  const D log2 =
      e + s * (D(2.8853900817779259) +
               z * (D(0.96179669392596923) +
                    z * (D(0.57707801637359168) +
                         z * (D(0.41219857840684704) +
                              z * (D(0.3205993897321206) +
                                   z * (D(0.26228685071331032) +
                                        z * (D(0.22218046669276051) +
                                             z * D(0.20068116205645398))))))));
  D t = convert<double>(y) * log2;
  t = select(t > D(200), D(200), select(t < D(-200), D(-200), t));
  const D n = round_even(t), f = t - n;
  const D power =
      D(1.0000000000000133) +
      f * (D(0.69314718055995439) +
           f * (D(0.24022650695640857) +
                f * (D(0.055504108664192947) +
                     f * (D(0.0096181291938375324) +
                          f * (D(0.001333355826688587) +
                               f * (D(0.00015403433827998469) +
                                    f * (D(1.5252637518448076e-05) +
                                         f * (D(1.3259626996386942e-06) +
                                              f * D(1.0212236345452652e-07)))))))));
  const N exponent = convert<int64_t>(convert<int32_t>(n)) + N(1023);
  X r = convert<float>(power * from_bits<D>(exponent << N(52)));

  const X half = y * X(0.5f);
  const decltype(x == x) whole = floor(y) == y,
                         odd = whole & (floor(half) != half);
  r = select(x == X(0), select(y < X(0), infinity<X>(), X(0)), r);
  r = select(is_inf(x), select(y < X(0), X(0), infinity<X>()), r);
  r = select(odd, copysign(r, x),
             select((x < X(0)) & !whole & !is_inf(x), nan<X>(), r));
  r = select(is_nan(x) | is_nan(y), nan<X>(), r);
  return select((y == X(0)) | (x == X(1)) | ((x == X(-1.0f)) & is_inf(y)), X(1),
                r);
}

} // namespace f32

#define GPUOPT_ELEMENTARY(name)                                                \
  DEVICE float name(float x) { return f32::name(x); }                          \
  DEVICE Lanes<float> name(Lanes<float> x) { return f32::name(x); }            \
  DEVICE double name(double x) { return ::name(x); }                           \
  DEVICE Lanes<double> name(Lanes<double> x) {                                 \
    return map(x, [](double v) { return ::name(v); });                         \
  }
GPUOPT_ELEMENTARY(exp)
GPUOPT_ELEMENTARY(expm1)
GPUOPT_ELEMENTARY(log)
GPUOPT_ELEMENTARY(log1p)
GPUOPT_ELEMENTARY(tanh)
GPUOPT_ELEMENTARY(erf)
GPUOPT_ELEMENTARY(sin)
GPUOPT_ELEMENTARY(cos)
GPUOPT_ELEMENTARY(tan)
GPUOPT_ELEMENTARY(sinh)
GPUOPT_ELEMENTARY(cosh)
GPUOPT_ELEMENTARY(asin)
GPUOPT_ELEMENTARY(acos)
GPUOPT_ELEMENTARY(atan)
GPUOPT_ELEMENTARY(asinh)
GPUOPT_ELEMENTARY(acosh)
GPUOPT_ELEMENTARY(atanh)
#undef GPUOPT_ELEMENTARY

// e^x of a number that comes from half precision, and a tanh that is added to 1
// or whose square is subtracted from it.
DEVICE float fast_exp(float x) { return f32::fast_exp(x); }
DEVICE Lanes<float> fast_exp(Lanes<float> x) { return f32::fast_exp(x); }
DEVICE float fast_tanh(float x) { return f32::fast_tanh(x); }
DEVICE Lanes<float> fast_tanh(Lanes<float> x) { return f32::fast_tanh(x); }

DEVICE float rsqrt(float x) { return f32::rsqrt(x); }
DEVICE double rsqrt(double x) { return 1 / sqrt(x); }
DEVICE Lanes<float> rsqrt(Lanes<float> x) { return f32::rsqrt(x); }
DEVICE Lanes<double> rsqrt(Lanes<double> x) {
  return Lanes<double>(1) / sqrt(x);
}

// a / b, for a b that is known to be at least 2^-100.
DEVICE float fast_divide(float a, float b) { return f32::fast_divide(a, b); }
DEVICE double fast_divide(double a, double b) { return a / b; }
template <class T>
DEVICE Lanes<T> fast_divide(Lanes<T> a, Lanes<T> b) {
  if constexpr (std::is_same_v<T, float>)
    return f32::fast_divide(a, b);
  else
    return a / b;
}
template <class T>
DEVICE Lanes<T> fast_divide(Lanes<T> a, NotDeduced<T> b) {
  return fast_divide(a, Lanes<T>(b));
}
template <class T>
DEVICE Lanes<T> fast_divide(NotDeduced<T> a, Lanes<T> b) {
  return fast_divide(Lanes<T>(a), b);
}

DEVICE float pow(float x, float y) { return f32::pow(x, y); }
DEVICE double pow(double x, double y) { return ::pow(x, y); }
DEVICE Lanes<float> pow(Lanes<float> x, Lanes<float> y) {
  return f32::pow(x, y);
}
DEVICE Lanes<double> pow(Lanes<double> x, Lanes<double> y) {
  return map(x, y, [](double a, double b) { return ::pow(a, b); });
}

// C's remainder, exact in every library: the sign is x's.
DEVICE float fmod(float x, float y) { return ::fmodf(x, y); }
DEVICE double fmod(double x, double y) { return ::fmod(x, y); }
template <class T>
DEVICE Lanes<T> fmod(Lanes<T> x, Lanes<T> y) {
  return map(x, y, [](T a, T b) { return fmod(a, b); });
}

} // namespace gpuopt
