// Updates of one row are combined one after the other.

#include "gpuopt/ops/scatter_reduce.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

template <class T>
using Call = void (*)(Context &, const int64_t *, int64_t, const T *, const T *,
                      int64_t, int64_t, T *);

// Three rows of 150 columns, of which row 2 is updated twice, once by a place
// from the end, and row 1 never.
template <class T>
std::vector<T> column(Call<T> call) {
  Context ctx(2);
  constexpr int64_t kRows = 3, kColumns = 150;
  const std::vector<int64_t> index = {2, 0, -1};
  const T of_table[] = {T(2), T(3), T(5)}, of_update[] = {T(7), T(1), T(4)};
  std::vector<T> table, updates, y(kRows * kColumns);
  for (size_t i = 0; i < size_t(kRows * kColumns); i++) {
    table.push_back(of_table[i / kColumns]);
    updates.push_back(of_update[i / kColumns]);
  }
  call(ctx, index.data(), 3, updates.data(), table.data(), kRows, kColumns,
       y.data());
  for (size_t i = 0; i < y.size(); i++)
    EXPECT_EQ(y[i], y[i / kColumns * kColumns]);
  return {y[0], y[kColumns], y[2 * kColumns]};
}

TEST(ScatterReduce, CombinesRows) {
  EXPECT_EQ(column<float>(scatter_sum_rows), (std::vector<float>{3, 3, 16}));
  EXPECT_EQ(column<double>(scatter_product_rows),
            (std::vector<double>{2, 3, 140}));
  EXPECT_EQ(column<int64_t>(scatter_max_rows), (std::vector<int64_t>{2, 3, 7}));
  EXPECT_EQ(column<int32_t>(scatter_min_rows), (std::vector<int32_t>{1, 3, 4}));
}

// 2048 and 1 are 2048 in f16, but 2048, 1 and 1 are 2050; 256 is that for bf16.
template <class H>
float sum_of_halves(float large) {
  Context ctx(1);
  const std::vector<int64_t> index = {0, 0};
  H table, one, y;
  store_scalar(&table, large);
  store_scalar(&one, 1.0f);
  const H updates[] = {one, one};
  scatter_sum_rows(ctx, index.data(), 2, updates, &table, 1, 1, &y);
  return load_scalar(&y);
}

TEST(ScatterReduce, RoundsHalfPrecisionOnce) {
  EXPECT_EQ(sum_of_halves<f16>(2048), 2050);
  EXPECT_EQ(sum_of_halves<bf16>(256), 258);
}

} // namespace
} // namespace gpuopt
