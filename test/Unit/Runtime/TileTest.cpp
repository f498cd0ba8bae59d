// Tiles that are turned in registers, against elements read one by one.

#include "gpuopt/kernels/tile_host.h"

#include <gtest/gtest.h>
#include <vector>

namespace gpuopt {
namespace {

template <class T>
class TileOf : public testing::Test {};
using Elements = testing::Types<float, double, bf16, f16>;
TYPED_TEST_SUITE(TileOf, Elements);

// Whole tiles, and those at the ends of rows and columns. The last element that
// may be read is the last one of the vector.
TYPED_TEST(TileOf, TurnsWhatLiesAlongTheRows) {
  using T = TypeParam;
  using C = Compute<T>;
  const int64_t stride = 23;
  for (int64_t rows : {1, 3, 15, 16, 20})
    for (int64_t columns : {1, 7, 16, 19}) {
      const int64_t n_rows = std::min<int64_t>(rows, kLanes),
                    n = std::min<int64_t>(columns, kLanes);
      std::vector<T> x(size_t((columns - 1) * stride + rows));
      for (size_t i = 0; i < x.size(); i++)
        store_scalar(&x[i], C(i % 251));
      Lanes<C> tile[kLanes];
      load_tile(tile, x.data(), stride, rows, columns);
      for (int64_t r = 0; r < kLanes; r++)
        for (int64_t k = 0; k < kLanes; k++) {
          const bool is_there = r < n_rows && k < n;
          ASSERT_EQ(lane(tile[r], int(k)),
                    is_there ? C((r + k * stride) % 251) : C(0))
              << "row " << r << " of " << rows << ", column " << k << " of "
              << columns;
        }
    }
}

} // namespace
} // namespace gpuopt
