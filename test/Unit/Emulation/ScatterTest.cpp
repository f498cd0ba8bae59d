// The gradient of an embedding, of tokens that occur rarely and often.
#include "Machine.h"

#include "gpuopt/ops/scatter.h"

#include <cmath>

namespace {

using gpuopt::Context;
using gpuopt::f16;
using gpuopt::kScatterSegment;

constexpr int64_t kColumns = 12;

// Whole numbers, whose sums are exact in any order.
float value_of(size_t i) { return float(int(i % 23) - 11); }

struct Scatter : Emulation {
  // Runs on a workspace of exactly the size that the compiler reserves.
  template <class T>
  static void add(const OnDevice<int64_t> &index, const OnDevice<T> &dy,
                  OnDevice<float> &table, double beta = 0) {
    const int64_t rows = int64_t(table.n) / kColumns, count = int64_t(index.n);
    Context ctx;
    OnDevice<char> workspace(
        size_t(gpuopt::ScatterLayout(rows, count, kColumns, 4).bytes));
    ctx.use_workspace(workspace.data, workspace.n);
    cudaDeviceSynchronize();
    gpuopt::scatter_add_rows(ctx, index.data, count, dy.data, rows, kColumns,
                             table.data, beta);
    cudaDeviceSynchronize();
  }

  // What is added to the table for `index`, `times` times, by the device.
  template <class T>
  std::vector<float> scatter(const std::vector<int64_t> &index, int64_t rows,
                             int times = 1) {
    std::vector<T> values;
    for (size_t i = 0; i < index.size() * kColumns; i++)
      if constexpr (std::is_same_v<T, f16>)
        values.push_back(gpuopt::narrow_f16(value_of(i)));
      else
        values.push_back(value_of(i));
    OnDevice<int64_t> positions(index);
    OnDevice<T> dy(values);
    OnDevice<float> table(size_t(rows * kColumns));
    for (int i = 0; i < times; i++)
      add(positions, dy, table, i == 0 ? 0.0 : 1.0);
    return table.values();
  }

  static std::vector<float> expected(const std::vector<int64_t> &index,
                                     int64_t rows, int times = 1) {
    std::vector<float> table(size_t(rows * kColumns), 0.0f);
    for (size_t i = 0; i < index.size(); i++) {
      const int64_t row = index[i] < 0 ? index[i] + rows : index[i];
      for (size_t c = 0; c < size_t(kColumns); c++)
        table[size_t(row) * kColumns + c] +=
            float(times) * value_of(i * kColumns + c);
    }
    return table;
  }
};

// Row 1 occurs so often that its positions are found by a search, row 2 so that
// they are sorted by rank, rows 3 and 4 just at and above the length of a
// segment, and the others rarely or never.
std::vector<int64_t> tokens(int64_t rows) {
  std::vector<int64_t> index;
  for (int64_t i = 0; i < 9000; i++)
    index.push_back(i % 2                       ? 1
                    : i % 68 == 0               ? 2
                    : i % 4 == 0 && i < 4 * 140 ? 3
                    : i % 4 == 2 && i < 4 * 145 ? 4
                                                : 5 + i * 7919 % (rows - 9));
  index[10] = -1; // the last row
  return index;
}

TEST_F(Scatter, AddsRareAndFrequentRows) {
  constexpr int64_t kRows = 2000;
  const std::vector<int64_t> index = tokens(kRows);
  int64_t occurrences[5] = {};
  for (int64_t row : index)
    if (row >= 0 && row < 5)
      occurrences[row]++;
  ASSERT_GE(occurrences[1] * occurrences[1], 2 * 9000);
  ASSERT_LT(occurrences[2] * occurrences[2], 2 * 9000);
  ASSERT_GT(occurrences[2], kScatterSegment);
  EXPECT_EQ(scatter<float>(index, kRows), expected(index, kRows));
  EXPECT_EQ(scatter<f16>(index, kRows, 2), expected(index, kRows, 2));
}

TEST_F(Scatter, AddsToTablesOfAFewRows) {
  std::vector<int64_t> index(1000);
  for (size_t i = 0; i < index.size(); i++)
    index[i] = i % 3 ? 1 : 0;
  EXPECT_EQ(scatter<float>(index, 2), expected(index, 2));
  index.assign(size_t(kScatterSegment), 0);
  EXPECT_EQ(scatter<float>(index, 2), expected(index, 2));
  index.push_back(0);
  EXPECT_EQ(scatter<float>(index, 2), expected(index, 2));
}

// Sums that depend on the order of their terms are the same in every run: of a
// bucket that one block sums, of one that is sorted by rank and summed in
// segments, and of one whose positions are searched.
TEST_F(Scatter, AddsInTheSameOrderEveryTime) {
  constexpr size_t kCount = 9000;
  std::vector<int64_t> index(kCount, 2);
  for (size_t i = 0; i < 100; i++)
    index[i * 90 + 1] = 0;
  for (size_t i = 0; i < 130; i++)
    index[i * 69 + 2] = 1;
  std::vector<float> values(kCount * kColumns);
  for (size_t i = 0; i < values.size(); i++)
    values[i] = std::sin(float(i)) * std::exp2(float(i % 40) - 20);
  std::vector<float> first;
  EXPECT_EQ(count_seeds(5,
                        [&] {
                          OnDevice<int64_t> positions(index);
                          OnDevice<float> dy(values), table(3 * kColumns);
                          add(positions, dy, table);
                          const std::vector<float> sums = table.values();
                          if (first.empty())
                            first = sums;
                          return sums != first;
                        }),
            0);
  std::vector<float> in_order(kColumns, 0.0f);
  for (size_t i = 0; i < kCount; i++)
    for (size_t c = 0; c < size_t(kColumns) && index[i] == 0; c++)
      in_order[c] += values[i * kColumns + c];
  first.resize(kColumns);
  EXPECT_EQ(first, in_order);
}

} // namespace
