// Random numbers on CUDA: whatever function draws them, an element has the
// same.

#include "gpuopt/kernels/random.h"

#include "Machine.h"

namespace gpuopt {
namespace {

constexpr uint64_t kSeed = 0x1234567890abcdefu, kStep = (uint64_t(3) << 32) + 5;
constexpr uint32_t kOp = 11;

TEST(RandomOnCuda, NeighboursHaveTheNumbersOfEachElement) {
  for (int64_t start : {int64_t(0), int64_t(1) << 34, (int64_t(1) << 34) - 8})
    for (int64_t first = start; first < start + 9; first++) {
      const auto from = random_uniform_from(kSeed, kOp, kStep, first),
                 any = random_uniform(kSeed, kOp, kStep, iota<int64_t>(first));
      for (int k = 0; k < kLanes; k++) {
        const float want = random_uniform(kSeed, kOp, kStep, first + k);
        ASSERT_EQ(from.part[k], want) << first << " " << k;
        ASSERT_EQ(any.part[k], want) << first << " " << k;
      }
      float pair[2];
      random_uniform_pair(kSeed, kOp, kStep, first, pair);
      ASSERT_EQ(pair[0], from.part[0]) << first;
      ASSERT_EQ(pair[1], from.part[1]) << first;
      if (first % 4 == 0) {
        const auto whole = random_uniform_vector(kSeed, kOp, kStep, first);
        for (int k = 0; k < kLanes; k++)
          ASSERT_EQ(whole.part[k], from.part[k]) << first << " " << k;
      }
    }
}

// Four elements share a call: its words, in order.
TEST(RandomOnCuda, ElementsTakeTheWordsOfACall) {
  const PhiloxOf<uint32_t> bits = philox_call(kSeed, kOp, kStep, 25);
  for (int k = 0; k < 4; k++)
    EXPECT_EQ(random_uniform(kSeed, kOp, kStep, int64_t(100 + k)),
              float(bits.word[k] >> 8) / 16777216);
}

// What the host draws for the same elements (test/Unit/Runtime/LanesTest.cpp).
TEST(RandomOnCuda, NumbersAreThoseOfTheHost) {
  const float expected[] = {0.623535752f, 0.758687079f, 0.0856474638f,
                            0.873818398f, 0.798585892f, 0.693803668f};
  for (int k = 0; k < 6; k++)
    EXPECT_EQ(random_uniform(42, 3, 7, int64_t(k + 2)), expected[k]);
}

} // namespace
} // namespace gpuopt
