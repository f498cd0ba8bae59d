// sum_parts adds up parts, for one tensor or for all of a table.

#include "gpuopt/ops/sum_parts.h"

#include <gtest/gtest.h>
#include <numeric>

namespace gpuopt {
namespace {

// 3 parts of 100 columns, which are more than a block takes, and 5 of 7, which
// are no whole vector; whole numbers, so that no sum is rounded.
std::vector<float> numbers() {
  std::vector<float> x(335);
  std::iota(x.begin(), x.end(), 1.0f);
  return x;
}
constexpr int64_t kFirst = 300; // of the second tensor

float sum(int64_t parts, int64_t columns, const float *x, int64_t i) {
  float total = 0;
  for (int64_t p = 0; p < parts; p++)
    total += x[p * columns + i];
  return total;
}

TEST(SumParts, AddsUpParts) {
  Context ctx(2);
  const std::vector<float> x = numbers();
  std::vector<float> y(101, -1);
  sum_parts(ctx, 3, 100, x.data(), y.data());
  for (int64_t i = 0; i < 100; i++)
    EXPECT_EQ(y[size_t(i)], sum(3, 100, x.data(), i));
  EXPECT_EQ(y[100], -1);
}

DEVICE_TABLE SumPartsRow kRows[] = {{2048, 0, 3, 100, 0},
                                    {4096, 4 * kFirst, 5, 7, 2}};

TEST(SumParts, AddsUpAllOfATable) {
  Context ctx(2);
  const std::vector<float> x = numbers();
  std::vector<char> memory(8192);
  const Memory m{memory.data()};
  std::copy(x.begin(), x.end(), m[Buffer<float>(0)]);
  sum_parts(ctx, m, kRows, sum_parts_blocks(100) + sum_parts_blocks(7));
  for (int64_t i = 0; i < 100; i++)
    EXPECT_EQ(m[Buffer<float>(2048)][i], sum(3, 100, x.data(), i));
  for (int64_t i = 0; i < 7; i++)
    EXPECT_EQ(m[Buffer<float>(4096)][i], sum(5, 7, x.data() + kFirst, i));
  EXPECT_EQ(m[Buffer<float>(4096)][7], 0);
}

} // namespace
} // namespace gpuopt
