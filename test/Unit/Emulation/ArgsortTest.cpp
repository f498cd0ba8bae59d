// Rows sorted by the threads of a block, for all lengths up to some hundred.
#include "Machine.h"

#include "gpuopt/ops/argsort.h"

#include <algorithm>
#include <numeric>

namespace {

struct Argsort : Emulation {
  static std::vector<int64_t> on_device(const std::vector<float> &x,
                                        int64_t rows, bool descending) {
    gpuopt::Context ctx;
    OnDevice<float> values(x);
    OnDevice<int64_t> places(x.size());
    gpuopt::argsort(ctx, rows, int64_t(x.size()) / rows, values.data,
                    places.data, descending);
    cudaDeviceSynchronize();
    return places.values();
  }

  static std::vector<int64_t> expected(const std::vector<float> &x,
                                       int64_t rows, bool descending) {
    const int64_t columns = int64_t(x.size()) / rows;
    std::vector<int64_t> places(x.size());
    for (int64_t r = 0; r < rows; r++) {
      const float *row = x.data() + r * columns;
      const auto begin = places.begin() + r * columns;
      std::iota(begin, begin + columns, 0);
      std::stable_sort(begin, begin + columns, [&](int64_t a, int64_t b) {
        return descending ? row[a] > row[b] : row[a] < row[b];
      });
    }
    return places;
  }
};

TEST_F(Argsort, SortsRowsOfAnyLength) {
  for (int64_t columns : {1, 2, 3, 7, 31, 32, 33, 100, 127, 200, 517}) {
    std::vector<float> x(size_t(2 * columns));
    for (size_t i = 0; i < x.size(); i++)
      x[i] = float(i * 7919 % 61); // some are equal
    for (bool descending : {false, true})
      EXPECT_EQ(on_device(x, 2, descending), expected(x, 2, descending))
          << columns;
  }
}

} // namespace
