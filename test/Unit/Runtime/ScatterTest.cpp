// scatter_add_rows adds what occurs twice, counts from the end, accumulates.

#include "gpuopt/ops/scatter.h"

#include <gtest/gtest.h>

namespace gpuopt {
namespace {

TEST(Scatter, AddsRowsInOrder) {
  Context ctx(2);
  const int64_t rows = 5, cols = 150;
  const std::vector<int64_t> index = {3, 0, 3, -1, 3};
  std::vector<float> dy(index.size() * cols), table(size_t(rows * cols), 7);
  for (size_t i = 0; i < dy.size(); i++)
    dy[i] = float(i);
  for (double beta : {0.0, 1.0}) {
    scatter_add_rows(ctx, index.data(), int64_t(index.size()), dy.data(), rows,
                     cols, table.data(), beta);
    for (int64_t c = 0; c < cols; c++) {
      const float times = float(1 + beta), column = float(c);
      EXPECT_EQ(table[size_t(3 * cols + c)],
                times * (3 * column + 6 * float(cols)));
      EXPECT_EQ(table[size_t(4 * cols + c)],
                times * (column + 3 * float(cols)));
      EXPECT_EQ(table[size_t(1 * cols + c)], 0);
    }
  }
}

} // namespace
} // namespace gpuopt
