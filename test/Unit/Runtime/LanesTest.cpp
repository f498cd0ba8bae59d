// Lanes: arithmetic, masks, conversions, memory, reductions, random numbers.

#include "gpuopt/kernels/block.h"
#include "gpuopt/kernels/random.h"

#include <gtest/gtest.h>
#include <limits>
#include <numeric>
#include <sys/mman.h>
#include <vector>

namespace gpuopt {
namespace {

template <class T>
std::vector<T> values(const Lanes<T> &x) {
  std::vector<T> v;
  for (int k = 0; k < kLanes; k++)
    v.push_back(lane(x, k));
  return v;
}

template <class T>
class LanesOf : public testing::Test {};
using Numbers = testing::Types<float, double, int32_t, int64_t>;
TYPED_TEST_SUITE(LanesOf, Numbers);

TYPED_TEST(LanesOf, ArithmeticIsElementwise) {
  using T = TypeParam;
  const Lanes<T> x = iota<T>(3);
  for (int k = 0; k < kLanes; k++) {
    EXPECT_EQ(lane(x + T(2), k), T(k + 5));
    EXPECT_EQ(lane(T(2) * x - x, k), T(k + 3));
    EXPECT_EQ(lane(-x, k), T(-(k + 3)));
    EXPECT_EQ(lane((x * x) / x, k), T(k + 3));
    EXPECT_EQ(lane(max(x, T(8)), k), T(std::max(k + 3, 8)));
    EXPECT_EQ(lane(min(T(8), x), k), T(std::min(k + 3, 8)));
    EXPECT_EQ(lane(select(x > T(9), x, T(0)), k), T(k + 3 > 9 ? k + 3 : 0));
  }
}

template <class T>
void expect_no_trap() {
  constexpr T least = std::numeric_limits<T>::min();
  const T dividends[] = {least, T(least + 1), T(-1), 0, 1, 7, T(~least)};
  for (T a : dividends)
    for (T b : {T(0), T(-1), T(1), T(3), least}) {
      const bool negates = std::is_signed_v<T> && b == T(-1);
      const T quotient = b == 0    ? a
                         : negates ? a == least ? least : T(-a)
                                   : a / b,
              rest = b == 0 || negates ? T(0) : a % b;
      EXPECT_EQ(divide(a, b), quotient) << a << " / " << b;
      EXPECT_EQ(remainder(a, b), rest) << a << " % " << b;
      EXPECT_EQ(lane(Lanes<T>(a) / Lanes<T>(b), 5), quotient)
          << a << " / " << b;
      EXPECT_EQ(lane(Lanes<T>(a) % Lanes<T>(b), 5), rest) << a << " % " << b;
    }
}

TEST(Lanes, IntegerDivisionsNeverTrap) {
  expect_no_trap<int32_t>();
  expect_no_trap<int64_t>();
  expect_no_trap<uint32_t>();
  expect_no_trap<uint64_t>();
}

TYPED_TEST(LanesOf, MasksCombine) {
  using T = TypeParam;
  const Lanes<T> x = iota<T>(0);
  const Lanes<bool> inside = (x >= T(2)) & !(x >= T(5)),
                    outside = inside ^ Lanes<bool>(true);
  for (int k = 0; k < kLanes; k++) {
    EXPECT_EQ(lane(inside, k), k >= 2 && k < 5);
    EXPECT_EQ(lane(outside | (x == T(3)), k), !(k >= 2 && k < 5) || k == 3);
    EXPECT_EQ(lane(convert<T>(inside), k), T(k >= 2 && k < 5));
    EXPECT_EQ(lane(convert<bool>(x), k), k != 0);
  }
}

TYPED_TEST(LanesOf, ConvertsToEveryOther) {
  const Lanes<TypeParam> x = iota<TypeParam>(-5);
  for (int k = 0; k < kLanes; k++) {
    EXPECT_EQ(lane(convert<float>(x), k), float(k - 5));
    EXPECT_EQ(lane(convert<double>(x), k), double(k - 5));
    EXPECT_EQ(lane(convert<int32_t>(x), k), k - 5);
    EXPECT_EQ(lane(convert<int64_t>(x), k), k - 5);
  }
}

TYPED_TEST(LanesOf, LoadsAndStoresEveryTail) {
  using T = TypeParam;
  std::vector<T> from(3 * kLanes);
  std::iota(from.begin(), from.end(), T(1));
  for (int n = 0; n <= kLanes + 3; n++) {
    const Lanes<T> x = load(from.data() + 1, n),
                   far = load_strided(from.data(), 2, n);
    const Lanes<T> picked = gather(from.data(), iota<int64_t>(2), n);
    std::vector<T> to(2 * kLanes, T(-1)), wide(3 * kLanes, T(-1));
    store(to.data(), x, n);
    store_strided(wide.data(), 2, x, n);
    for (int k = 0; k < kLanes; k++) {
      EXPECT_EQ(lane(x, k), k < n ? T(k + 2) : T(0));
      EXPECT_EQ(lane(far, k), k < n ? T(2 * k + 1) : T(0));
      EXPECT_EQ(lane(picked, k), k < n ? T(k + 3) : T(0));
      EXPECT_EQ(to[k], k < n ? T(k + 2) : T(-1));
      EXPECT_EQ(wide[2 * k], k < n ? T(k + 2) : T(-1));
      EXPECT_EQ(lane(masked(x, n, T(7)), k), k < n ? T(k + 2) : T(7));
    }
  }
}

// Elements at the end of a page behind which no page is: reading or writing one
// more ends the process.
template <class T>
class EndOfPage {
public:
  static constexpr size_t kPage = 4096;
  EndOfPage() {
    pages = static_cast<char *>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages + kPage, kPage, PROT_NONE);
  }
  ~EndOfPage() { munmap(pages, 2 * kPage); }
  T *last(int64_t n) { return reinterpret_cast<T *>(pages + kPage) - n; }

private:
  char *pages;
};

template <class T>
class MemoryOf : public testing::Test {};
using Stored = testing::Types<float, double, int32_t, int64_t, f16, bf16>;
TYPED_TEST_SUITE(MemoryOf, Stored);

TYPED_TEST(MemoryOf, IsNotTouchedBehindTheLastElement) {
  using T = TypeParam;
  EndOfPage<T> page;
  for (int64_t n = -kLanes; n <= kLanes; n++) {
    const int64_t count = std::max<int64_t>(n, 0);
    T *p = page.last(count);
    for (int64_t k = 0; k < count; k++)
      store_scalar(p + k, Compute<T>(k + 1));
    const auto x = load(p, n);
    store(p, x + x, n);
    for (int k = 0; k < kLanes; k++)
      EXPECT_EQ(lane(x, k), Compute<T>(k < n ? k + 1 : 0)) << n;
    for (int64_t k = 0; k < count; k++)
      EXPECT_EQ(load_scalar(p + k), Compute<T>(2 * k + 2)) << n;
    if (n < kLanes) {
      EXPECT_EQ(load_scalar(page.last(count + 1)), Compute<T>(0)) << n;
    }
    store_scalar(page.last(count + 1), Compute<T>(0));
  }
}

TEST(Masks, AreNotTouchedBehindTheLastElement) {
  EndOfPage<uint8_t> page;
  for (int64_t n = 0; n <= kLanes; n++) {
    uint8_t *p = page.last(n);
    store(p, iota<int32_t>(0) < Lanes<int32_t>(3), n);
    for (int k = 0; k < kLanes; k++) {
      EXPECT_EQ(lane(load_mask(p, n), k), k < n && k < 3);
      if (k < n) {
        EXPECT_EQ(p[k], k < 3);
      }
    }
  }
}

template <int Multiple, class T>
void expect_same_as_any_place(int64_t n) {
  alignas(64) T from[2 * kLanes], to[2 * kLanes] = {},
                                         expected[2 * kLanes] = {};
  for (int i = 0; i < 2 * kLanes; i++)
    from[i] = T(i + 3);
  store<Multiple>(to, load<Multiple>(from, n), n);
  store(expected, load(from, n), n);
  EXPECT_EQ(memcmp(to, expected, sizeof to), 0) << n;
  const Lanes<T> one = masked<Multiple>(load(from, n), n, T(1)),
                 other = masked(load(from, n), n, T(1));
  for (int k = 0; k < kLanes; k++)
    EXPECT_EQ(lane(one, k), lane(other, k)) << n;
}

TYPED_TEST(LanesOf, KnownPlacesReadAsOthers) {
  for (int64_t n = 4; n <= 20; n += 4)
    expect_same_as_any_place<4, TypeParam>(n);
  for (int64_t n = 8; n <= 24; n += 8)
    expect_same_as_any_place<8, TypeParam>(n);
  for (int64_t n = 16; n <= 32; n += 16)
    expect_same_as_any_place<16, TypeParam>(n);
  TypeParam from[kLanes], to[kLanes];
  for (int i = 0; i < kLanes; i++)
    from[i] = TypeParam(i + 3);
  store_vector(to, load_vector(from));
  EXPECT_EQ(memcmp(to, from, sizeof to), 0);
}

TYPED_TEST(LanesOf, ReducesInOneTree) {
  using T = TypeParam;
  const Lanes<T> x = iota<T>(1);
  EXPECT_EQ(block_sum(x), T(kLanes * (kLanes + 1) / 2));
  EXPECT_EQ(block_max(x), T(kLanes));
  EXPECT_EQ(block_min(x), T(1));
  EXPECT_EQ(block_prod(select(x < T(5), x, T(1))), T(24));
}

TEST(Lanes, IntegersShiftAndDivide) {
  const Lanes<int64_t> x = iota<int64_t>(-4);
  for (int k = 0; k < kLanes; k++) {
    EXPECT_EQ(lane(x << Lanes<int64_t>(3), k), (k - 4) * 8);
    EXPECT_EQ(lane(x >> Lanes<int64_t>(1), k), (k - 4) >> 1);
    EXPECT_EQ(lane(x % Lanes<int64_t>(3), k), (k - 4) % 3);
  }
  values(Lanes<int32_t>(1) / Lanes<int32_t>(0)); // does not trap
}

TEST(Lanes, OneHasThePlace) {
  constexpr int64_t kFar = int64_t(1) << 40;
  for (int64_t start : {int64_t(0), int64_t(24), kFar})
    for (int64_t at :
         {start - kFar, start - 1, start, start + 3, start + kLanes - 1,
          start + kLanes, start + (int64_t(1) << 32), int64_t(-100)})
      for (int k = 0; k < kLanes; k++)
        EXPECT_EQ(lane(is_at(start, at), k), start + k == at)
            << start << ", " << at << ", lane " << k;
}

TEST(Lanes, LessAtThePlace) {
  for (int64_t distance : {-124, -1, 0, 3, kLanes - 1, kLanes})
    for (int k = 0; k < kLanes; k++)
      EXPECT_EQ(lane(minus_at(Lanes<float>(0.5f), 24, 24 + distance, 1.0f), k),
                k == distance ? -0.5f : 0.5f)
          << distance << ", lane " << k;
}

TEST(Lanes, NotANumberWins) {
  const float nan = kNaN<float>;
  for (auto [a, b] : {std::pair(nan, 1.0f), {1.0f, nan}}) {
    EXPECT_TRUE(std::isnan(max(a, b)) && std::isnan(min(a, b)));
    EXPECT_TRUE(std::isnan(lane(max(Lanes<float>(a), b), 0)));
  }
  EXPECT_TRUE(std::signbit(lane(Lanes<float>(-0.0f), 3)));
}

TEST(Lanes, HalfPrecisionRoundsToNearestEven) {
  float x[kLanes] = {1.0f,     1.00048828125f, 1.001f, -3.14159f,
                     65504.0f, 65520.0f,       1e-8f,  6e-8f};
  x[8] = kNaN<float>, x[9] = -0.0f, x[10] = 1.00390625f, x[11] = 1.01171875f;
  f16 h[kLanes];
  bf16 b[kLanes];
  for (int n : {kLanes, 12}) {
    store(h, load(x, n), n);
    store(b, load(x, n), n);
    for (int k = 0; k < n; k++) {
      EXPECT_EQ(h[k].bits, bit_cast<uint16_t>(_Float16(x[k]))) << x[k];
      EXPECT_EQ(lane(load(h, n), k) == lane(load(h, n), k), x[k] == x[k]);
      EXPECT_EQ(bits_of(lane(load(b, n), k)) & 0xffff, 0);
    }
    EXPECT_EQ(lane(load(h, n), 5), kInfinity<float>);
    EXPECT_EQ(b[10].bits, 0x3f80) << "half way: to even";
    EXPECT_EQ(b[11].bits, 0x3f82) << "half way: to even";
    EXPECT_TRUE(std::isnan(widen(b[8])));
  }
}

// Any bits at all: NaNs, infinities and subnormal numbers among them.
template <class H>
void expect_lanes_as_scalars() {
  uint32_t bits = 1;
  for (int round = 0; round < 20000; round++) {
    float x[kLanes];
    for (float &value : x) {
      bits = bits * 1664525u + 1013904223u;
      value = bit_cast<float>(bits);
    }
    H lanes[kLanes], scalar[kLanes];
    store(lanes, load(x, kLanes), kLanes);
    const Lanes<float> rounded = round_to<H>(load(x, kLanes));
    for (int k = 0; k < kLanes; k++) {
      store_scalar(scalar + k, x[k]);
      ASSERT_EQ(lanes[k].bits, scalar[k].bits) << bits_of(x[k]);
      const float back = load_scalar(scalar + k);
      ASSERT_EQ(bits_of(lane(load(lanes, kLanes), k)), bits_of(back));
      ASSERT_EQ(bits_of(lane(rounded, k)), bits_of(back));
      ASSERT_EQ(bits_of(round_to<H>(x[k])), bits_of(back));
    }
  }
}
TEST(Lanes, HalfPrecisionIsTheSameForLanesAndScalars) {
  expect_lanes_as_scalars<f16>();
  expect_lanes_as_scalars<bf16>();
}

TEST(Lanes, BoolsAreBytes) {
  const uint8_t from[4] = {0, 1, 2, 0};
  uint8_t to[4] = {9, 9, 9, 9};
  store(to, !load_mask(from, 3), 3);
  EXPECT_EQ(std::vector<uint8_t>(to, to + 4),
            (std::vector<uint8_t>{1, 0, 0, 9}));
  // All lanes at once take another way.
  uint8_t all[kLanes], negated[kLanes];
  for (int k = 0; k < kLanes; k++)
    all[k] = uint8_t(k % 3 ? 0 : 255 - k);
  store(negated, !load_mask(all, kLanes), kLanes);
  for (int k = 0; k < kLanes; k++)
    EXPECT_EQ(negated[k], k % 3 ? 1 : 0) << k;
}

// The test vectors of the Random123 distribution (kat_vectors, philox4x32 10).
TEST(Random, PhiloxKnownAnswers) {
  auto run = [](uint32_t c, uint32_t key) {
    const Lanes<uint32_t> w(c);
    const Philox out = philox({{w, w, w, w}}, key, key);
    return std::vector<uint32_t>{lane(out.word[0], 0), lane(out.word[1], 5),
                                 lane(out.word[2], 9), lane(out.word[3], 15)};
  };
  EXPECT_EQ(run(0, 0), (std::vector<uint32_t>{0x6627e8d5u, 0xe169c58du,
                                              0xbc57ac4cu, 0x9b00dbd8u}));
  EXPECT_EQ(run(0xffffffffu, 0xffffffffu),
            (std::vector<uint32_t>{0x408f276du, 0x41c83b0eu, 0xa20bc7c6u,
                                   0x6d5451fdu}));
}

// Element e has word e % 4 of call e / 4, as a replica in Python computes them.
TEST(Random, FourElementsShareACall) {
  const float expected[] = {0.623535752f, 0.758687079f, 0.0856474638f,
                            0.873818398f, 0.798585892f, 0.693803668f};
  const Lanes<float> lanes = random_uniform(42, 3, 7, iota<int64_t>(2)),
                     from = random_uniform_from(42, 3, 7, 2);
  for (int k = 0; k < 6; k++) {
    EXPECT_EQ(random_uniform(42, 3, 7, int64_t(k + 2)), expected[k]);
    EXPECT_EQ(lane(lanes, k), expected[k]);
    EXPECT_EQ(lane(from, k), expected[k]);
  }
}

TEST(Random, UniformIsAFunctionOfItsCounter) {
  double sum = 0;
  for (int64_t i = 0; i < 1000; i++) {
    const auto u = random_uniform(42, 3, 7, iota<int64_t>(i * kLanes));
    const auto shifted =
        random_uniform(42, 3, 7, iota<int64_t>(i * kLanes + 1));
    for (int k = 0; k < kLanes; k++) {
      sum += lane(u, k);
      ASSERT_TRUE(lane(u, k) >= 0 && lane(u, k) < 1);
      if (k > 0) {
        ASSERT_EQ(lane(u, k), lane(shifted, k - 1));
      }
    }
  }
  EXPECT_NEAR(sum / (1000.0 * kLanes), 0.5, 0.01);
}

} // namespace
} // namespace gpuopt
