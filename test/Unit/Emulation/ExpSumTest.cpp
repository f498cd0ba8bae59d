// The largest value of a row and the sum of exponentials relative to it, found
// in one walk by the threads of a block.
#include "Machine.h"

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/exp_sum.h"

#include <algorithm>
#include <cmath>

using namespace gpuopt;

namespace {

using ExpSumTest = Emulation;

template <class T>
KERNEL void sum_exponentials(const T *x, float *largest, float *sums,
                             int64_t columns) {
  const int64_t b = block();
  ExpSum<T> exponentials;
  for (int64_t i = first_lane(); i < columns; i += lane_step()) {
    const int64_t left = columns - i;
    exponentials.add(masked(load(x + b * columns + i, left), left, -INFINITY));
  }
  const float maximum = block_max(exponentials);
  const float sum = block_sum(exponentials, maximum);
  if (first_thread())
    largest[b] = maximum, sums[b] = sum;
}

// The same, with two vectors of a thread at once while whole ones are left.
KERNEL void sum_exponentials_of_batches(const float *x, float *largest,
                                        float *sums, int64_t columns) {
  const int64_t b = block(), whole = whole_batches<2>(columns);
  ExpSum<float> exponentials;
  for (int64_t start = first_lane(); start < whole; start += 2 * lane_step())
    for (int k = 0; k < 2; k++)
      exponentials.add(load(x + b * columns + start + k * lane_step(), kLanes));
  for (int64_t i = whole + first_lane(); i < columns; i += lane_step()) {
    const int64_t left = columns - i;
    exponentials.add(masked(load(x + b * columns + i, left), left, -INFINITY));
  }
  const float maximum = block_max(exponentials);
  const float sum = block_sum(exponentials, maximum);
  if (first_thread())
    largest[b] = maximum, sums[b] = sum;
}

// The same for rows that have a warp each.
template <int Groups>
KERNEL void sum_exponentials_of_groups(const float *x, float *largest,
                                       float *sums, int64_t columns) {
  const int64_t r = block() * Groups + group<32>();
  ExpSum<float> exponentials;
  for (int64_t t = 0; t < iterations<32>(columns); t++) {
    const int64_t i = t * lane_step<32>() + first_lane<32>(),
                  left = columns - i;
    exponentials.add(masked(load(x + r * columns + i, left), left, -INFINITY));
  }
  const float maximum = group_max<32>(exponentials);
  const float sum = group_sum<32>(exponentials, maximum);
  if (first_lane<32>() == 0)
    largest[r] = maximum, sums[r] = sum;
}

struct Results {
  std::vector<float> largest, sums;
};

Results results_of(const std::vector<float> &x, int64_t columns, int threads,
                   bool isInBatches = false) {
  const size_t rows = x.size() / size_t(columns);
  Context ctx;
  OnDevice<float> from(x), largest(rows), sums(rows);
  cudaDeviceSynchronize();
  if (threads > 0)
    launch(ctx, int64_t(rows), threads,
           isInBatches ? sum_exponentials_of_batches : sum_exponentials<float>,
           from.data, largest.data, sums.data, columns);
  else
    launch(ctx, int64_t(rows / 2), 64, sum_exponentials_of_groups<2>, from.data,
           largest.data, sums.data, columns);
  return {largest.values(), sums.values()};
}

TEST_F(ExpSumTest, AgreesWithTwoWalks) {
  constexpr int64_t kColumns = 1003, kRows = 4;
  std::vector<float> x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); i++) // ascending, descending, mixed
    x[i] = i < 1003   ? float(i) * 0.1f
           : i < 2006 ? float(i) * -0.1f
                      : float(i * 37 % 1009) * 0.05f - 300.0f;
  for (int threads : {0, 32, 128}) {
    const Results first = results_of(x, kColumns, threads);
    for (size_t r = 0; r < kRows; r++) {
      const float *row = x.data() + r * kColumns;
      const float largest = *std::max_element(row, row + kColumns);
      double sum = 0;
      for (int64_t i = 0; i < kColumns; i++)
        sum += std::exp(double(row[i]) - double(largest));
      EXPECT_EQ(first.largest[r], largest);
      // Each term, and each scale of the sum, is off by some 2^-23.
      EXPECT_NEAR(first.sums[r], sum, 1e-5 * sum) << threads << " threads";
    }
    auto differs = [&] {
      const Results other = results_of(x, kColumns, threads);
      return other.largest != first.largest || other.sums != first.sums;
    };
    EXPECT_EQ(count_seeds(5, differs), 0);
  }
}

// The shift of a thread stays behind its maximum by up to 8, and the rounding
// of an exponent of 2 moves an exponential by 2^-23 |x - shift|.
TEST_F(ExpSumTest, RowsOfHalfPrecisionAreWithinTheirBound) {
  constexpr int64_t kColumns = 4003, kRows = 4;
  std::vector<f16> x(kRows * kColumns);
  for (size_t i = 0; i < x.size(); i++) // ascending, descending, mixed, -inf
    x[i] = narrow_f16(i < 4003    ? float(i) * 0.01f
                      : i < 8006  ? float(i) * -0.01f
                      : i < 12009 ? float(i * 37 % 1009) * 0.05f - 300.0f
                                  : -INFINITY);
  Context ctx;
  OnDevice<f16> from(x);
  OnDevice<float> largest(kRows), sums(kRows);
  for (auto ends :
       {emulation::Approximation::Any, emulation::Approximation::Lowest,
        emulation::Approximation::Highest}) {
    emulation::approximation = ends;
    cudaDeviceSynchronize();
    launch(ctx, kRows, 64, sum_exponentials<f16>, from.data, largest.data,
           sums.data, kColumns);
    const std::vector<float> found = largest.values(), totals = sums.values();
    for (size_t r = 0; r + 1 < kRows; r++) {
      float most = -INFINITY;
      double sum = 0;
      for (int64_t i = 0; i < kColumns; i++)
        most = std::max(most, widen(x[r * kColumns + size_t(i)]));
      for (int64_t i = 0; i < kColumns; i++)
        sum += std::exp(double(widen(x[r * kColumns + size_t(i)])) - most);
      EXPECT_EQ(found[r], most);
      EXPECT_NEAR(totals[r], sum, 2e-6 * sum) << r;
    }
    EXPECT_EQ(found[3], -INFINITY);
    EXPECT_TRUE(std::isnan(totals[3]));
  }
  emulation::approximation = emulation::Approximation::Any;
}

TEST_F(ExpSumTest, SumsAreScaledForMuchLargerElementsAlone) {
  ExpSum<float> exponentials;
  exponentials.add(Lanes<float>(1));
  EXPECT_EQ(exponentials.shift, 1);
  exponentials.add(Lanes<float>(8.5f));
  EXPECT_EQ(exponentials.maximum, 8.5f);
  EXPECT_EQ(exponentials.shift, 1);
  exponentials.add(Lanes<float>(9.5f));
  EXPECT_EQ(exponentials.shift, 9.5f);
}

TEST_F(ExpSumTest, BatchesHaveTheSameBits) {
  for (int64_t columns : {100, 255, 256, 512, 1003, 1024, 2049}) {
    std::vector<float> x(size_t(3 * columns));
    for (size_t i = 0; i < x.size(); i++)
      x[i] = float(i * 37 % 1009) * 0.05f - 30.0f;
    for (int threads : {32, 64}) {
      const Results one = results_of(x, columns, threads),
                    two = results_of(x, columns, threads, true);
      EXPECT_EQ(one.largest, two.largest) << columns;
      EXPECT_EQ(one.sums, two.sums) << columns;
    }
  }
}

TEST_F(ExpSumTest, KeepsWhatIsNotFinite) {
  constexpr int64_t kColumns = 300;
  constexpr size_t kRows = 6;
  std::vector<float> x(kRows * kColumns, -INFINITY);
  x[1 * kColumns + 299] = 2;            // one value behind the first ones
  x[2 * kColumns + 7] = NAN;            // and nothing else
  x[3 * kColumns] = INFINITY;           // exp(inf - inf)
  for (size_t i = 0; i < kColumns; i++) // finite, but for one
    x[4 * kColumns + i] = i == 150 ? NAN : float(i);
  x[5 * kColumns] = -1e30f, x[5 * kColumns + 1] = 1e30f;
  for (int threads : {0, 64}) {
    const Results found = results_of(x, kColumns, threads);
    EXPECT_EQ(found.largest[0], -INFINITY);
    EXPECT_TRUE(std::isnan(found.sums[0])); // exp(-inf - -inf), as ever
    EXPECT_EQ(found.largest[1], 2);
    EXPECT_EQ(found.sums[1], 1);
    EXPECT_TRUE(std::isnan(found.largest[2]) && std::isnan(found.sums[2]));
    EXPECT_EQ(found.largest[3], INFINITY);
    EXPECT_TRUE(std::isnan(found.sums[3]));
    EXPECT_TRUE(std::isnan(found.largest[4]) && std::isnan(found.sums[4]));
    EXPECT_EQ(found.largest[5], 1e30f);
    EXPECT_EQ(found.sums[5], 1);
  }
}

} // namespace
