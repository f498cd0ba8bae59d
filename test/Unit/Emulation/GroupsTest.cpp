// Groups of a block's threads: what each of them walks over, and values that
// are combined over all of them.
#include "Machine.h"

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/block.h"

#include <algorithm>

using namespace gpuopt;

namespace {

using GroupsTest = Emulation;

// The sums of columns, and their largest elements, as emitted kernels find
// them. Threads behind the last column have no elements and take part.
template <int Width, int Groups>
KERNEL void reduce_columns(const float *x, float *sums, float *halves,
                           float *largest, int64_t rows, int64_t columns) {
  const int64_t begin = block() * lane_step<Width>();
  const int64_t i = begin + first_lane<Width>(), left = columns - i;
  Lanes<float> sum(0.0f), most(-INFINITY);
  for (int64_t r = group<Width>(); r < rows; r += groups<Groups>()) {
    sum += load(x + r * columns + i, left);
    most = max(most, load(x + r * columns + i, left));
  }
  // Twice, so that the second reduction must not overtake the first.
  const auto sum_of_all = sum_of_groups<Width, Groups>(sum);
  const auto half_of_all =
      sum_of_groups<Width, Groups>(sum * Lanes<float>(0.5f));
  const auto most_of_all = max_of_groups<Width, Groups>(most);
  if (group<Width>() == 0) {
    store(sums + i, sum_of_all, left);
    store(halves + i, half_of_all, left);
    store(largest + i, most_of_all, left);
  }
}

// In the order that sum_of_groups documents: groups of one warp by exchanges
// over growing distances, then warps one after the other.
float sum_in_order(std::vector<float> of_groups, size_t width) {
  const size_t per_warp = 32 / width;
  std::vector<float> of_warps;
  for (size_t first = 0; first < of_groups.size(); first += per_warp) {
    for (size_t distance = 1; distance < per_warp; distance *= 2)
      for (size_t g = 0; g + distance < per_warp; g += 2 * distance)
        of_groups[first + g] += of_groups[first + g + distance];
    of_warps.push_back(of_groups[first]);
  }
  float sum = of_warps[0];
  for (size_t w = 1; w < of_warps.size(); w++)
    sum += of_warps[w];
  return sum;
}

template <int Width, int Groups>
void expect_right_columns(int64_t rows, int64_t columns) {
  std::vector<float> x(size_t(rows * columns)), sums, halves, largest;
  for (size_t i = 0; i < x.size(); i++)
    x[i] = 1.0f / float(1 + i * 37 % 101) - 0.3f;
  for (int64_t c = 0; c < columns; c++) {
    std::vector<float> of_groups(Groups, 0.0f);
    float most = -INFINITY;
    for (int64_t r = 0; r < rows; r++) {
      of_groups[size_t(r % Groups)] += x[size_t(r * columns + c)];
      most = std::max(most, x[size_t(r * columns + c)]);
    }
    sums.push_back(sum_in_order(of_groups, Width));
    halves.push_back(0.5f * sums.back());
    largest.push_back(most);
  }
  const int64_t span = Width * kLanes;
  auto differs = [&] {
    Context ctx;
    OnDevice<float> from(x), sum(sums.size()), half(sums.size()),
        most(sums.size());
    cudaDeviceSynchronize();
    launch(ctx, ceil_div(columns, span), Width * Groups,
           reduce_columns<Width, Groups>, from.data, sum.data, half.data,
           most.data, rows, columns);
    return sum.values() != sums || half.values() != halves ||
           most.values() != largest;
  };
  EXPECT_EQ(count_seeds(5, differs), 0) << Groups << " groups of " << Width;
}

TEST_F(GroupsTest, ShareTheRowsOfColumns) {
  expect_right_columns<32, 8>(100, 300); // a warp is a group
  expect_right_columns<8, 16>(64, 32);   // a warp has several
  expect_right_columns<8, 4>(21, 50);    // one warp is the block
  expect_right_columns<1, 64>(200, 9);
}

// Each warp has a row in its registers, from which it takes the mean. The last
// iteration of a row and the last block have threads without elements.
template <int Groups>
KERNEL void centre_rows(const float *x, float *y, int64_t rows) {
  constexpr int64_t kColumns = 300;
  const int64_t begin = block() * Groups;
  const int64_t end = std::min(begin + Groups, rows);
  for (int64_t r = begin + group<32>(); r < end; r += groups<Groups>()) {
    Lanes<float> row[iterations<32>(kColumns)];
    Lanes<float> sums(0.0f);
    for (int64_t t = 0; t < iterations<32>(kColumns); t++) {
      const int64_t i = t * lane_step<32>() + first_lane<32>();
      row[t] = load<4>(x + r * kColumns + i, kColumns - i);
      sums += masked<4>(row[t] + Lanes<float>(1), kColumns - i, 0.0f);
    }
    const float mean = group_sum<32>(sums) * (1.0f / kColumns);
    for (int64_t t = 0; t < iterations<32>(kColumns); t++) {
      const int64_t i = t * lane_step<32>() + first_lane<32>();
      store<4>(y + r * kColumns + i, row[t] - Lanes<float>(mean), kColumns - i);
    }
  }
}

TEST_F(GroupsTest, HoldRowsInRegisters) {
  constexpr size_t kRows = 11, kColumns = 300;
  std::vector<float> x(kRows * kColumns), expected(x);
  for (size_t i = 0; i < x.size(); i++)
    x[i] = float(i % 300 % 5) + float(i / 300); // sums are exact
  for (size_t i = 0; i < x.size(); i++)
    expected[i] = x[i] - float(900 + 300 * (i / 300)) * (1.0f / 300);
  auto differs = [&] {
    Context ctx;
    OnDevice<float> from(x), to(x.size());
    cudaDeviceSynchronize();
    launch(ctx, ceil_div(kRows, 4), 128, centre_rows<4>, from.data, to.data,
           int64_t(kRows));
    return to.values() != expected;
  };
  EXPECT_EQ(count_seeds(5, differs), 0);
}

// Short rows share a warp. Threads that have a row alone may leave the others.
template <int Width, int Groups>
KERNEL void sum_short_rows(const float *x, float *y, int64_t rows) {
  constexpr int64_t kColumns = 10;
  const int64_t begin = block() * Groups;
  const int64_t end = std::min(begin + Groups, rows);
  for (int64_t r = begin + group<Width>(); r < end; r += groups<Groups>()) {
    Lanes<float> sums(0.0f);
    for (int64_t t = 0; t < iterations<Width>(kColumns); t++) {
      const int64_t i = t * lane_step<Width>() + first_lane<Width>();
      sums += load(x + r * kColumns + i, kColumns - i);
    }
    const float sum = group_sum<Width>(sums);
    if (first_lane<Width>() == 0)
      y[r] = sum;
  }
}

TEST_F(GroupsTest, ShareWarps) {
  constexpr size_t kRows = 48, kColumns = 10;
  std::vector<float> x(kRows * kColumns), expected(kRows, 0.0f);
  for (size_t i = 0; i < x.size(); i++) { // sums are exact
    x[i] = float(i * 37 % 101);
    expected[i / kColumns] += x[i];
  }
  auto differs = [&](auto kernel, int64_t groups) {
    Context ctx;
    OnDevice<float> from(x), to(kRows);
    cudaDeviceSynchronize();
    launch(ctx, ceil_div(int64_t(kRows), groups), 64, kernel, from.data,
           to.data, int64_t(kRows));
    return to.values() != expected;
  };
  EXPECT_EQ(count_seeds(5, [&] { return differs(sum_short_rows<4, 16>, 16); }),
            0);
  EXPECT_EQ(count_seeds(5, [&] { return differs(sum_short_rows<1, 64>, 64); }),
            0);
}

// A block has its row in the registers of all of its threads.
template <int Threads>
KERNEL void centre_long_rows(const float *x, float *y) {
  constexpr int64_t kColumns = 1300;
  const int64_t b = block();
  Lanes<float> row[iterations<Threads>(kColumns)];
  Lanes<float> sums(0.0f);
  for (int64_t t = 0; t < iterations<Threads>(kColumns); t++) {
    const int64_t i = t * lane_step<Threads>() + first_lane<Threads>();
    row[t] = load<4>(x + b * kColumns + i, kColumns - i);
    sums += masked<4>(row[t] + Lanes<float>(1), kColumns - i, 0.0f);
  }
  const float mean = block_sum(sums) * (1.0f / kColumns);
  for (int64_t t = 0; t < iterations<Threads>(kColumns); t++) {
    const int64_t i = t * lane_step<Threads>() + first_lane<Threads>();
    store<4>(y + b * kColumns + i, row[t] - Lanes<float>(mean), kColumns - i);
  }
}

TEST_F(GroupsTest, BlocksHoldRowsInRegisters) {
  constexpr size_t kRows = 3, kColumns = 1300;
  std::vector<float> x(kRows * kColumns), expected(x);
  for (size_t i = 0; i < x.size(); i++)
    x[i] = float(i % 1300 % 5) + float(i / 1300); // sums are exact
  for (size_t i = 0; i < x.size(); i++)
    expected[i] = x[i] - float(3900 + 1300 * (i / 1300)) * (1.0f / 1300);
  auto differs = [&] {
    Context ctx;
    OnDevice<float> from(x), to(x.size());
    cudaDeviceSynchronize();
    launch(ctx, int64_t(kRows), 96, centre_long_rows<96>, from.data, to.data);
    return to.values() != expected;
  };
  EXPECT_EQ(count_seeds(5, differs), 0);
}

} // namespace
