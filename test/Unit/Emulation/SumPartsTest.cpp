// The GPU's kernel that adds up parts: groups of threads take turns at the
// parts, and blocks have columns of one tensor of a table.
#include "Machine.h"

#include "../Runtime/Values.h"

#include "gpuopt/ops/sum_parts.h"

using namespace gpuopt;

namespace {

using SumPartsTest = Emulation;

void expect_sums(const std::vector<float> &x, int64_t parts, int64_t columns,
                 const float *sums) {
  for (int64_t i = 0; i < columns; i++) {
    double sum = 0;
    for (int64_t p = 0; p < parts; p++)
      sum += double(x[size_t(p * columns + i)]);
    EXPECT_NEAR(double(sums[i]), sum, 1e-6 * double(parts)) << i;
  }
}

TEST_F(SumPartsTest, AddsUpAnyNumberOfPartsAndColumns) {
  for (const auto &[parts, columns] :
       {std::pair<int64_t, int64_t>{1, 64}, {3, 100}, {256, 768}, {75, 7}}) {
    SCOPED_TRACE(parts);
    Context ctx;
    const auto values = random_values<float>(size_t(parts * columns), 1);
    const OnDevice<float> x(values), y(size_t(columns + 1));
    sum_parts(ctx, parts, columns, x.data, y.data);
    const std::vector<float> sums = y.values();
    expect_sums(values, parts, columns, sums.data());
    EXPECT_TRUE(std::isnan(sums.back()));
  }
}

// Rows of halves: fewer than one part has, a last part that is not full, and
// more than the least number for each part. The same bits come in any order of
// blocks.
TEST_F(SumPartsTest, AddsUpManyRowsByParts) {
  for (const auto &[rows, columns] :
       {std::pair<int64_t, int64_t>{1, 64}, {64, 72}, {200, 130}, {75000, 8}}) {
    SCOPED_TRACE(rows);
    const ColumnSumsLayout layout(rows, columns, sizeof(float));
    EXPECT_LE(layout.parts, kMostColumnSumsParts);
    EXPECT_GE(layout.parts * layout.rows_of_part, rows);
    EXPECT_EQ(layout.parts > 1, rows > kLeastRowsOfPart);
    const auto values = random_values<f16>(size_t(rows * columns), 3);
    const OnDevice<f16> x(values);
    const OnDevice<char> memory(size_t(layout.bytes));
    std::vector<float> sums[2];
    for (uint64_t seed : {1, 2}) {
      emulation::seed_machine(seed);
      const OnDevice<float> y(static_cast<size_t>(columns));
      Context ctx;
      ctx.use_workspace(memory.data, memory.n);
      sum_many_rows(ctx, rows, columns, x.data, y.data);
      sums[seed - 1] = y.values();
    }
    std::vector<float> wide;
    for (const f16 &value : values)
      wide.push_back(load_scalar(&value));
    expect_sums(wide, rows, columns, sums[0].data());
    EXPECT_EQ(sums[0], sums[1]);
  }
}

DEVICE_TABLE SumPartsRow kRows[] = {{32768, 0, 40, 130, 0},
                                    {36864, 20800, 33, 64, 3}};

TEST_F(SumPartsTest, AddsUpAllOfATable) {
  Context ctx;
  const auto values = random_values<float>(40 * 130 + 33 * 64, 2);
  std::vector<float> whole(10240);
  std::copy(values.begin(), values.end(), whole.begin());
  const OnDevice<float> memory(whole);
  const Memory m{reinterpret_cast<char *>(memory.data)};
  sum_parts(ctx, m, kRows, sum_parts_blocks(130) + sum_parts_blocks(64));
  const std::vector<float> after = memory.values();
  expect_sums(values, 40, 130, &after[8192]);
  expect_sums({values.begin() + 5200, values.end()}, 33, 64, &after[9216]);
}

} // namespace
