// The largest error of each function that CUDA computes by the multifunction
// unit, against the C library in double, with the results of the unit at either
// end of what NVIDIA states and anywhere between.

#include "gpuopt/kernels/elementary.h"

#include "../Runtime/UlpError.h"
#include "Machine.h"

namespace gpuopt {
namespace {

using emulation::Approximation;

// Every 4001st of the numbers that are no larger in magnitude than `most`.
std::vector<float> sample(float most) {
  std::vector<float> x;
  for (uint32_t bits = 1; bits <= bit_cast<uint32_t>(most); bits += 4001) {
    x.push_back(bit_cast<float>(bits));
    x.push_back(-x.back());
  }
  return x;
}

class ElementaryOnCuda : public Emulation {
protected:
  void TearDown() override {
    emulation::approximation = Approximation::Any;
    Emulation::TearDown();
  }

  // The largest error over all samples, for any results of the unit.
  template <class F, class G>
  double largest_error(const std::vector<float> &xs, F ours, G exact) {
    double worst = 0;
    for (auto ends :
         {Approximation::Any, Approximation::Lowest, Approximation::Highest}) {
      emulation::approximation = ends;
      for (float x : xs)
        worst = std::max(worst, error_in_ulp(ours(x), exact(double(x))));
    }
    return worst;
  }
};

#define EXPECT_ULP(name, most, bound)                                          \
  do {                                                                         \
    const double worst = largest_error(                                        \
        sample(most), [](float x) { return gpuopt::name(x); },                 \
        [](double x) { return std::name(x); });                                \
    EXPECT_LE(worst, bound) << #name;                                          \
    printf("  %-6s %.2f ulp\n", #name, worst);                                 \
  } while (0)

TEST_F(ElementaryOnCuda, ErrorsAreWithinTheirBounds) {
  EXPECT_ULP(exp, 110.0f, 5);
  EXPECT_ULP(tanh, 3e38f, 4);
  EXPECT_ULP(erf, 3e38f, 2);
  EXPECT_ULP(expm1, 110.0f, 2);
  EXPECT_ULP(log, 3e38f, 1.2);
  EXPECT_ULP(log1p, 3e38f, 3);
  EXPECT_ULP(sinh, 80.0f, 13);
  EXPECT_ULP(cosh, 80.0f, 9);
}

// The error grows with the argument, whose product with log2(e) is rounded.
TEST_F(ElementaryOnCuda, FastExponentialsAreWithinTheirBound) {
  double worst = 0;
  for (auto ends :
       {Approximation::Any, Approximation::Lowest, Approximation::Highest}) {
    emulation::approximation = ends;
    for (float x : sample(87.0f))
      worst = std::max(worst,
                       error_in_ulp(gpuopt::fast_exp(x), std::exp(double(x))) /
                           (5 + 1.25 * std::fabs(double(x))));
  }
  EXPECT_LE(worst, 1);
  EXPECT_GT(worst, 0.5); // the bound says what it is
  EXPECT_EQ(gpuopt::fast_exp(-kInfinity<float>), 0);
  EXPECT_EQ(gpuopt::fast_exp(-90.0f), 0);
  EXPECT_EQ(gpuopt::fast_exp(kInfinity<float>), kInfinity<float>);
  EXPECT_TRUE(std::isnan(gpuopt::fast_exp(kNaN<float>)));
}

// What is added to 1 may be off by as much wherever it is.
TEST_F(ElementaryOnCuda, FastTanhIsWithinItsBound) {
  double worst = 0;
  for (auto ends :
       {Approximation::Any, Approximation::Lowest, Approximation::Highest}) {
    emulation::approximation = ends;
    for (float x : sample(3e38f))
      worst = std::max(worst, std::fabs(double(gpuopt::fast_tanh(x)) -
                                        std::tanh(double(x))));
  }
  EXPECT_LE(worst, 5e-7);
  for (float sign : {1.0f, -1.0f})
    EXPECT_EQ(gpuopt::fast_tanh(sign * kInfinity<float>), sign);
  EXPECT_TRUE(std::isnan(gpuopt::fast_tanh(kNaN<float>)));
}

TEST_F(ElementaryOnCuda, RootsAndQuotientsAreWithinTheirBounds) {
  EXPECT_LE(largest_error(
                sample(3e38f), [](float x) { return gpuopt::rsqrt(x); },
                [](double x) { return 1 / std::sqrt(x); }),
            2.2);
  for (float a : {1.0f, -3.0f, 0.1f, 1e-20f, 7e10f}) {
    std::vector<float> divisors;
    for (float x : sample(8e37f)) // 2^126
      if (x >= 0x1p-100f && std::fabs(a / x) >= 0x1p-126f)
        divisors.push_back(x);
    EXPECT_LE(largest_error(
                  divisors, [&](float b) { return gpuopt::fast_divide(a, b); },
                  [&](double b) { return double(a) / b; }),
              3.5)
        << a;
  }
}

TEST_F(ElementaryOnCuda, LimitsAreExact) {
  const float inf = kInfinity<float>, nan = kNaN<float>;
  EXPECT_EQ(gpuopt::exp(inf), inf);
  EXPECT_EQ(gpuopt::exp(3e38f), inf);
  EXPECT_EQ(gpuopt::exp(-inf), 0);
  EXPECT_EQ(gpuopt::exp(-3e38f), 0);
  for (float sign : {1.0f, -1.0f}) {
    EXPECT_EQ(gpuopt::tanh(sign * inf), sign);
    EXPECT_EQ(gpuopt::erf(sign * inf), sign);
    EXPECT_EQ(gpuopt::tanh(sign * 0.0f), 0);
    EXPECT_EQ(std::signbit(gpuopt::erf(sign * 0.0f)), sign < 0);
  }
  for (float y :
       {gpuopt::exp(nan), gpuopt::tanh(nan), gpuopt::erf(nan),
        gpuopt::rsqrt(nan), gpuopt::rsqrt(-1.0f),
        gpuopt::fast_divide(1.0f, nan), gpuopt::fast_divide(nan, 1.0f)})
    EXPECT_TRUE(std::isnan(y));
  EXPECT_EQ(gpuopt::fast_divide(1.0f, inf), 0);
  EXPECT_EQ(gpuopt::rsqrt(inf), 0);
  EXPECT_EQ(gpuopt::rsqrt(0.0f), inf);
}

TEST_F(ElementaryOnCuda, TheLargerNumberIsExactAndNotANumberWins) {
  for (float a : {-INFINITY, -1.5f, -0.0f, 0.0f, 1e-45f, 2.0f, INFINITY})
    for (float b : {-INFINITY, -1.5f, -0.0f, 0.0f, 1e-45f, 2.0f, INFINITY}) {
      EXPECT_EQ(max(a, b), std::max(a, b));
      EXPECT_EQ(min(a, b), std::min(a, b));
      EXPECT_EQ(lane(max(Lanes<float>(a), Lanes<float>(b)), 1), std::max(a, b));
      EXPECT_EQ(lane(min(Lanes<float>(a), Lanes<float>(b)), 1), std::min(a, b));
    }
  EXPECT_FALSE(std::signbit(max(-0.0f, 0.0f)) ||
               std::signbit(max(0.0f, -0.0f)));
  EXPECT_TRUE(std::signbit(min(-0.0f, 0.0f)) && std::signbit(min(0.0f, -0.0f)));
  for (float other : {-INFINITY, 0.0f, INFINITY}) {
    EXPECT_TRUE(is_nan(max(NAN, other)) && is_nan(max(other, NAN)));
    EXPECT_TRUE(is_nan(min(NAN, other)) && is_nan(min(other, NAN)));
  }
}

// The logistic function as kernels write it: its denominator may be infinite.
TEST_F(ElementaryOnCuda, LogisticFunctionIsWithinItsBound) {
  const double worst = largest_error(
      sample(80.0f),
      [](float x) { return gpuopt::fast_divide(1.0f, 1 + gpuopt::exp(-x)); },
      [](double x) { return 1 / (1 + std::exp(-x)); });
  EXPECT_LE(worst, 7);
  EXPECT_EQ(gpuopt::fast_divide(1.0f, 1 + gpuopt::exp(200.0f)), 0);
  EXPECT_NEAR(gpuopt::fast_divide(1.0f, 1 + gpuopt::exp(-200.0f)), 1, 0x1p-23);
}

TEST_F(ElementaryOnCuda, LanesHaveTheBitsOfScalars) {
  const std::vector<float> xs = sample(100.0f);
  for (size_t i = 0; i + kLanes <= xs.size(); i += kLanes) {
    Lanes<float> x;
    for (int k = 0; k < kLanes; k++)
      x.part[k] = xs[i + size_t(k)];
#define EXPECT_SAME_BITS(name)                                                 \
  for (int k = 0; k < kLanes; k++)                                             \
    ASSERT_EQ(bits_of(gpuopt::name(x).part[k]),                                \
              bits_of(gpuopt::name(x.part[k])))                                \
        << #name << "(" << x.part[k] << ")";
    EXPECT_SAME_BITS(exp)
    EXPECT_SAME_BITS(fast_exp)
    EXPECT_SAME_BITS(fast_tanh)
    EXPECT_SAME_BITS(tanh)
    EXPECT_SAME_BITS(erf)
    EXPECT_SAME_BITS(expm1)
    EXPECT_SAME_BITS(log1p)
  }
}

// Results vary within the bound, but only with the argument.
TEST_F(ElementaryOnCuda, TheUnitIsAsFarOffAsItMayBe) {
  int seen[5] = {};
  for (uint32_t i = 0; i < 10000; i++) {
    const float x = float(i) * 1e-3f - 5;
    const float y = ptx::exp2(x), exact = float(std::exp2(double(x)));
    ASSERT_EQ(y, ptx::exp2(x));
    const int32_t off = bits_of(y) - bits_of(exact);
    ASSERT_LE(std::abs(off), 2);
    seen[off + 2]++;
  }
  for (int count : seen)
    EXPECT_GT(count, 500);
}

TEST_F(ElementaryOnCuda, ReciprocalsAreAsFarOffAsTheyMayBe) {
  int seen[3] = {};
  double worst = 0;
  for (uint32_t i = 1; i <= 10000; i++) {
    const float x = float(i) * 1e-3f, exact = float(1 / double(x));
    const int32_t off = bits_of(ptx::reciprocal(x)) - bits_of(exact);
    ASSERT_LE(std::abs(off), 1);
    seen[off + 1]++;
    worst = std::max(
        worst, std::abs(double(ptx::rsqrt(x)) * std::sqrt(double(x)) - 1));
  }
  for (int count : seen)
    EXPECT_GT(count, 500);
  EXPECT_GT(worst, 0.9 * std::exp2(-22.9));
  // A result is rounded once more.
  EXPECT_LT(worst, std::exp2(-22.9) + std::exp2(-24.));
}

// The reciprocals of these divisors are subnormal.
TEST_F(ElementaryOnCuda, QuotientsByHugeNumbersAreWithinTheirBounds) {
  std::vector<float> divisors;
  for (uint32_t bits = bit_cast<uint32_t>(0x1p125f);
       bits < bit_cast<uint32_t>(kInfinity<float>); bits += 4001)
    divisors.push_back(bit_cast<float>(bits));
  for (float a : {-3e38f, 1e38f, 4.0f})
    EXPECT_LE(largest_error(
                  divisors, [&](float b) { return gpuopt::fast_divide(a, b); },
                  [&](double b) { return double(a) / b; }),
              6.5)
        << a;
  EXPECT_EQ(gpuopt::fast_divide(kInfinity<float>, 1.1e38f), kInfinity<float>);
}

// x / (1 + |x|), for all finite numbers.
TEST_F(ElementaryOnCuda, SoftsignIsWithinItsBound) {
  EXPECT_LE(
      largest_error(
          sample(std::numeric_limits<float>::max()),
          [](float x) { return gpuopt::fast_divide(x, 1 + std::fabs(x)); },
          [](double x) { return x / (1 + std::fabs(x)); }),
      7);
}

} // namespace
} // namespace gpuopt
