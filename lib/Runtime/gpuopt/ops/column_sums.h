// The sums of a matrix's columns, computed by a block for kSumColumns of them.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/block.h"
#include "gpuopt/settings/limits.h"

namespace gpuopt {

// The threads of a block that computes sum_columns_of_block.
constexpr int kSumThreads = 256;

// y[i] = x[0, i] + ... + x[rows - 1, i], for the columns i of the block with
// this number. Groups of threads take every kGroups-th row, and are added up in
// their order. The sum is of y's type.
template <class T, class C>
DEVICE void sum_columns_of_block(int64_t number, int64_t rows, int64_t columns,
                                 const T *x, C *y) {
  constexpr int kWidth = 8, kGroups = kSumThreads / kWidth;
  const int64_t begin = number * kSumColumns;
  const int64_t end =
      begin + kSumColumns < columns ? begin + kSumColumns : columns;
  for (int64_t tile = begin; tile < end; tile += lane_step<kWidth>()) {
    const int64_t i = tile + first_lane<kWidth>();
    Lanes<C> sum(C(0));
    if (i < end)
      for (int64_t r = group<kWidth>(); r < rows; r += groups<kGroups>())
        sum += load(x + r * columns + i, end - i);
    sum = sum_of_groups<kWidth, kGroups>(sum);
    if (group<kWidth>() == 0 && i < end)
      store(y + i, sum, end - i);
  }
}

} // namespace gpuopt
