// The largest error of each elementary function in units in the last place,
// against the C library in double, and the bits of lanes against scalars.

#include "gpuopt/kernels/elementary.h"
#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/random.h"

#include "UlpError.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

// From exponent `low` to `high`, both signs, some hundred per binade.
std::vector<float> samples(double low, double high) {
  std::vector<float> x;
  for (double a = low; a < high; a *= 1.00137) {
    x.push_back(float(a));
    x.push_back(float(-a));
  }
  return x;
}

template <class F, class G>
double largest_error(const std::vector<float> &xs, F ours, G reference) {
  double worst = 0;
  for (float x : xs)
    worst = std::max(worst, error_in_ulp(ours(x), reference(double(x))));
  return worst;
}

#define EXPECT_ULP(name, low, high, bound)                                     \
  do {                                                                         \
    const double worst = largest_error(                                        \
        samples(low, high), [](float x) { return gpuopt::name(x); },           \
        [](double x) { return std::name(x); });                                \
    EXPECT_LE(worst, bound) << #name;                                          \
    RecordProperty(#name, std::to_string(worst));                              \
    printf("  %-6s %.2f ulp\n", #name, worst);                                 \
  } while (0)

TEST(Elementary, ErrorInUnitsInTheLastPlace) {
  EXPECT_ULP(exp, 1e-10, 120, 1.3);
  EXPECT_ULP(expm1, 1e-10, 120, 2.0);
  EXPECT_ULP(log, 1e-44, 3e38, 1.2);
  EXPECT_ULP(log1p, 1e-30, 3e38, 2.0);
  EXPECT_ULP(tanh, 1e-30, 100, 2.0);
  EXPECT_ULP(erf, 1e-30, 10, 2.8);
  EXPECT_ULP(sin, 1e-30, 1e6, 2.0);
  EXPECT_ULP(cos, 1e-30, 1e6, 2.0);
  EXPECT_ULP(tan, 1e-30, 1e6, 3.5);
  EXPECT_ULP(sinh, 1e-30, 100, 4.0);
  EXPECT_ULP(cosh, 1e-30, 100, 4.0);
  EXPECT_ULP(asin, 1e-30, 1.1, 3.0);
  EXPECT_ULP(acos, 1e-30, 1.1, 3.0);
  EXPECT_ULP(atan, 1e-30, 1e30, 2.5);
  EXPECT_ULP(asinh, 1e-30, 3e38, 3.0);
  EXPECT_ULP(acosh, 0.5, 3e38, 3.0);
  EXPECT_ULP(atanh, 1e-30, 1.1, 3.0);
}

TEST(Elementary, Power) {
  double worst = 0;
  for (float x : samples(1e-40, 1e38))
    for (float y :
         {-3.0f, -2.5f, -1.0f, -0.3f, 0.0f, 0.5f, 1.0f, 2.0f, 3.0f, 7.25f})
      worst = std::max(worst, error_in_ulp(gpuopt::pow(x, y),
                                           std::pow(double(x), double(y))));
  EXPECT_LE(worst, 0.51);
  const float inf = kInfinity<float>, nan = kNaN<float>;
  for (float x :
       {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 0.5f, -0.5f, inf, -inf, nan})
    for (float y : {0.0f, -0.0f, 1.0f, -1.0f, 2.0f, -2.0f, 3.0f, 0.5f, -0.5f,
                    inf, -inf, nan}) {
      const float want = std::pow(x, y), got = gpuopt::pow(x, y);
      EXPECT_TRUE(std::isnan(want) ? std::isnan(got) : got == want)
          << x << " ^ " << y << " = " << want << ", but got " << got;
    }
  for (float x : {inf, -inf})
    for (float y : {0.1f, 0.01f, 1e-30f, -0.1f, -0.01f, -1e-30f})
      EXPECT_EQ(gpuopt::pow(x, y), std::pow(x, y)) << x << " ^ " << y;
}

// Double has no digits left for the place in a period, but a sine is a sine.
TEST(Elementary, SinesOfLargeNumbersStayWithinOne) {
  for (float x : samples(1e6, 3e38)) {
    EXPECT_LE(std::abs(gpuopt::sin(x)), 1.0f) << x;
    EXPECT_LE(std::abs(gpuopt::cos(x)), 1.0f) << x;
    EXPECT_FALSE(std::isnan(gpuopt::tan(x))) << x;
  }
}

TEST(Elementary, SpecialValues) {
  const float inf = kInfinity<float>, nan = kNaN<float>;
#define EXPECT_AS_LIBRARY(name)                                                \
  for (float x : {0.0f, 1.0f, -1.0f, inf, -inf, nan, 1e-44f, 3e38f, -3e38f}) { \
    const float want = std::name(x), got = gpuopt::name(x);                    \
    EXPECT_TRUE(std::isnan(want) ? std::isnan(got)                             \
                                 : error_in_ulp(got, want) < 3)                \
        << #name << "(" << x << ") = " << want << ", but got " << got;         \
  }
  EXPECT_AS_LIBRARY(exp)
  EXPECT_AS_LIBRARY(expm1)
  EXPECT_AS_LIBRARY(log)
  EXPECT_AS_LIBRARY(log1p)
  EXPECT_AS_LIBRARY(tanh)
  EXPECT_AS_LIBRARY(erf)
  EXPECT_AS_LIBRARY(sinh)
  EXPECT_AS_LIBRARY(cosh)
  EXPECT_AS_LIBRARY(asin)
  EXPECT_AS_LIBRARY(acos)
  EXPECT_AS_LIBRARY(atan)
  EXPECT_AS_LIBRARY(asinh)
  EXPECT_AS_LIBRARY(acosh)
  EXPECT_AS_LIBRARY(atanh)
  EXPECT_AS_LIBRARY(floor)
  EXPECT_AS_LIBRARY(ceil)
  EXPECT_AS_LIBRARY(trunc)
  EXPECT_TRUE(std::isnan(gpuopt::sin(inf)) && std::isnan(gpuopt::cos(nan)));
}

TEST(Elementary, LanesHaveTheBitsOfScalars) {
  const auto xs = samples(1e-30, 1e30);
  for (size_t i = 0; i + kLanes <= xs.size(); i += kLanes) {
    const Lanes<float> x = load(xs.data() + i, kLanes);
#define EXPECT_SAME_BITS(name)                                                 \
  for (int k = 0; k < kLanes; k++) {                                           \
    const float want = gpuopt::name(xs[i + k]),                                \
                got = lane(gpuopt::name(x), k);                                \
    ASSERT_TRUE(std::isnan(want) ? std::isnan(got)                             \
                                 : bits_of(want) == bits_of(got))              \
        << #name;                                                              \
  }
    EXPECT_SAME_BITS(exp)
    EXPECT_SAME_BITS(expm1)
    EXPECT_SAME_BITS(log)
    EXPECT_SAME_BITS(log1p)
    EXPECT_SAME_BITS(tanh)
    EXPECT_SAME_BITS(erf)
    EXPECT_SAME_BITS(sin)
    EXPECT_SAME_BITS(cos)
    EXPECT_SAME_BITS(tan)
    EXPECT_SAME_BITS(sinh)
    EXPECT_SAME_BITS(atan)
    EXPECT_SAME_BITS(asin)
    EXPECT_SAME_BITS(sqrt)
    EXPECT_SAME_BITS(rsqrt)
    EXPECT_SAME_BITS(floor)
    EXPECT_SAME_BITS(ceil)
    EXPECT_SAME_BITS(round_even)
    EXPECT_SAME_BITS(abs)
    EXPECT_SAME_BITS(sign)
  }
}

TEST(Elementary, Rounding) {
  for (float x : {0.5f, 1.5f, 2.5f, -0.5f, -1.5f, 0.49999997f, 8388609.0f,
                  -3.7f, 3.2f, 1e30f}) {
    EXPECT_EQ(gpuopt::round_even(x), std::nearbyint(x)) << x;
    EXPECT_EQ(gpuopt::floor(x), std::floor(x)) << x;
    EXPECT_EQ(gpuopt::ceil(x), std::ceil(x)) << x;
    EXPECT_EQ(gpuopt::trunc(x), std::trunc(x)) << x;
  }
  EXPECT_TRUE(std::signbit(gpuopt::ceil(-0.5f)) &&
              std::signbit(gpuopt::floor(-0.0f)));
}

// Recorded once; the same with g++ 12 and clang 22, for SSE2, AVX2 and AVX-512.
// Whoever changes a formula records the new value.
TEST(Elementary, BitsAreThoseOfEveryProcessor) {
  uint64_t hash = 1469598103934665603u; // FNV-1a
  auto mix = [&](auto v) {
    hash = (hash ^ uint64_t(bits_of(v))) * 1099511628211u;
  };
  float x[kLanes];
  for (uint32_t k = 0; k < 20000; k++) {
    for (uint32_t i = 0; i < kLanes; i++)
      x[i] = float(int32_t((k * kLanes + i) * 2654435761u)) / 1e8f;
    const Lanes<float> v = load(x, kLanes), a = gpuopt::abs(v);
    const Lanes<float> all =
        gpuopt::exp(v) + gpuopt::tanh(v) + gpuopt::erf(v) + gpuopt::sin(v) +
        gpuopt::log(a) + gpuopt::pow(a, v) + gpuopt::sqrt(a) +
        gpuopt::log1p(a) + gpuopt::asinh(v) + gpuopt::atan(v) +
        random_uniform(1, 2, 3, iota<int64_t>(k));
    mix(block_sum(all));
    mix(block_max(all));
    mix(block_sum(convert<double>(all)));
    mix(block_prod(gpuopt::sin(v)));
  }
  EXPECT_EQ(hash, 3763101724631158253u);
}

} // namespace
} // namespace gpuopt
