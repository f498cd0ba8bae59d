// check_finite_rows looks at rows, and not at what lies between them.

#include "gpuopt/ops/check.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

constexpr int64_t kRows = 3, kColumns = 37, kPitch = 40;

/// The noted index for a tensor of ones in which one element is `value`; all
/// that lies between rows is not finite.
int64_t noted(int64_t row, int64_t column, float value) {
  Context ctx(2);
  std::vector<float> x(kRows * kPitch, NAN);
  for (int64_t i = 0; i < kRows; i++)
    for (int64_t j = 0; j < kColumns; j++)
      x[i * kPitch + j] = 1;
  x[row * kPitch + column] = value;
  StepState state{};
  check_finite_rows(ctx, &state, x.data(), kRows, kColumns, kPitch, 7);
  return state.first_not_finite;
}

TEST(Check, RowsMayHaveAnythingBetweenThem) { EXPECT_EQ(noted(0, 0, 2), -1); }

TEST(Check, EveryElementOfARowIsLookedAt) {
  for (int64_t row = 0; row < kRows; row++)
    for (int64_t column = 0; column < kColumns; column++)
      EXPECT_EQ(noted(row, column, INFINITY), 7) << row << ", " << column;
}

} // namespace
} // namespace gpuopt
