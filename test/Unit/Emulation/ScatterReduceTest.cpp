// Rows that are combined by index, in the order of the indices.
#include "Machine.h"

#include "gpuopt/ops/scatter_reduce.h"

#include <cmath>

namespace {

using gpuopt::Context;

constexpr int64_t kRows = 40, kColumns = 3;

struct ScatterReduce : Emulation {
  // Row 1 is updated so often that its updates are found by a search, row 2 so
  // often that they are sorted by their rank, and row 0 never.
  static std::vector<int64_t> rows() {
    std::vector<int64_t> index;
    for (int64_t i = 0; i < 1500; i++)
      index.push_back(i % 2 ? 1 : i % 10 == 0 ? 2 : 3 + i * 7919 % 37);
    return index;
  }

  template <class T, class F>
  static std::vector<T> on_device(F call, const std::vector<T> &updates,
                                  const std::vector<T> &table) {
    const std::vector<int64_t> index = rows();
    Context ctx;
    OnDevice<char> workspace(size_t(
        gpuopt::ScatterLayout(kRows, int64_t(index.size()), 0, 0).bytes));
    ctx.use_workspace(workspace.data, workspace.n);
    OnDevice<int64_t> places(index);
    OnDevice<T> from(updates), into(table), y(table.size());
    cudaDeviceSynchronize();
    call(ctx, places.data, int64_t(index.size()), from.data, into.data, kRows,
         kColumns, y.data);
    cudaDeviceSynchronize();
    return y.values();
  }

  template <class T, class F>
  static std::vector<T> expected(F combine, const std::vector<T> &updates,
                                 std::vector<T> table) {
    const std::vector<int64_t> index = rows();
    for (size_t i = 0; i < index.size(); i++)
      for (size_t c = 0; c < size_t(kColumns); c++) {
        T &to = table[size_t(index[i]) * kColumns + c];
        to = combine(to, updates[i * kColumns + c]);
      }
    return table;
  }
};

TEST_F(ScatterReduce, CombinesInTheOrderOfTheIndices) {
  std::vector<float> updates(1500 * kColumns), table(kRows * kColumns);
  for (size_t i = 0; i < updates.size(); i++)
    updates[i] = 1 + 0.01f * std::sin(float(i));
  for (size_t i = 0; i < table.size(); i++)
    table[i] = float(i % 5);
  EXPECT_EQ(on_device(gpuopt::scatter_product_rows<float>, updates, table),
            expected([](float a, float b) { return a * b; }, updates, table));
  EXPECT_EQ(on_device(gpuopt::scatter_sum_rows<float>, updates, table),
            expected([](float a, float b) { return a + b; }, updates, table));
  EXPECT_EQ(on_device(gpuopt::scatter_min_rows<float>, updates, table),
            expected([](float a, float b) { return std::min(a, b); }, updates,
                     table));
}

// 256 and 1 are 256 in bf16, so that only a sum that is rounded once grows.
TEST_F(ScatterReduce, RoundsHalfPrecisionOnce) {
  gpuopt::bf16 one, large;
  gpuopt::store_scalar(&one, 1.0f);
  gpuopt::store_scalar(&large, 256.0f);
  const std::vector<gpuopt::bf16> updates(1500 * kColumns, one),
      table(kRows * kColumns, large);
  const auto sums =
      on_device(gpuopt::scatter_sum_rows<gpuopt::bf16>, updates, table);
  EXPECT_EQ(gpuopt::load_scalar(&sums[0]), 256);
  EXPECT_EQ(gpuopt::load_scalar(&sums[kColumns]), 1008); // 256 + 750
  EXPECT_EQ(gpuopt::load_scalar(&sums[2 * kColumns]), 256 + 150);
}

TEST_F(ScatterReduce, FindsTheMaximumOfIntegers) {
  std::vector<int64_t> updates(1500 * kColumns), table(kRows * kColumns, -1);
  for (size_t i = 0; i < updates.size(); i++)
    updates[i] = int64_t(i) * 104729 % 4001 - 2000 + (int64_t(1) << 40);
  EXPECT_EQ(on_device(gpuopt::scatter_max_rows<int64_t>, updates, table),
            expected([](int64_t a, int64_t b) { return std::max(a, b); },
                     updates, table));
}

} // namespace
