// argsort orders rows, keeps equal elements in their order, and puts NaN last.

#include "gpuopt/ops/argsort.h"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

template <class T>
std::vector<int64_t> order(const std::vector<T> &x, int64_t rows,
                           bool descending) {
  Context ctx(2);
  std::vector<int64_t> y(x.size());
  argsort(ctx, rows, int64_t(x.size()) / rows, x.data(), y.data(), descending);
  return y;
}

using Places = std::vector<int64_t>;

TEST(Argsort, KeepsEqualElementsInTheirOrder) {
  const std::vector<int64_t> x = {3, 1, 3, 2, 1, 7, 7, 7, 0, 7};
  EXPECT_EQ(order(x, 2, false), (Places{1, 4, 3, 0, 2, 3, 0, 1, 2, 4}));
  EXPECT_EQ(order(x, 2, true), (Places{0, 2, 3, 1, 4, 0, 1, 2, 4, 3}));
}

TEST(Argsort, TakesNanForTheGreatest) {
  const float nan = std::nanf("");
  const std::vector<float> x = {1, nan, -INFINITY, INFINITY, nan, 0};
  EXPECT_EQ(order(x, 1, false), (Places{2, 5, 0, 3, 1, 4}));
  EXPECT_EQ(order(x, 1, true), (Places{1, 4, 3, 0, 5, 2}));
}

TEST(Argsort, ComparesHalves) {
  const std::vector<f16> x = {narrow_f16(2), narrow_f16(-1), narrow_f16(0.5f)};
  EXPECT_EQ(order(x, 1, false), (Places{1, 2, 0}));
}

} // namespace
} // namespace gpuopt
