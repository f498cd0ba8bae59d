// The last stage of sums that several blocks have begun: adds up what each of
// them has. A block takes kSumColumns columns: of one tensor or, in one launch,
// of all tensors that a table names.
//
//   DEVICE_TABLE SumPartsRow kSumsOfParts[] = {
//       {1024, 66560, 256, 768, 0}, // sum, parts, their number, columns,
//       {65024, 852992, 16, 128, 12}, // first block
//   };
//   sum_parts(ctx, m, kSumsOfParts, 14); // so many blocks in all
#pragma once

#include "gpuopt/optimizers/spans.h"

namespace gpuopt {

constexpr int kSumThreads = 256;

// y[i] = x[0, i] + ... + x[parts - 1, i], for the columns of one block. Groups
// of threads take turns at the parts, and are added up in their order.
DEVICE void sum_parts_of_block(int64_t number, int64_t parts, int64_t columns,
                               const float *x, float *y) {
  constexpr int kWidth = 8, kGroups = kSumThreads / kWidth;
  const int64_t begin = number * kSumColumns;
  const int64_t end =
      begin + kSumColumns < columns ? begin + kSumColumns : columns;
  for (int64_t tile = begin; tile < end; tile += lane_step<kWidth>()) {
    const int64_t i = tile + first_lane<kWidth>();
    Lanes<float> sum(0.0f);
    if (i < end)
      for (int64_t p = group<kWidth>(); p < parts; p += groups<kGroups>())
        sum += load(x + p * columns + i, end - i);
    sum = sum_of_groups<kWidth, kGroups>(sum);
    if (group<kWidth>() == 0 && i < end)
      store(y + i, sum, end - i);
  }
}

KERNEL void sum_parts_kernel(int64_t parts, int64_t columns, const float *x,
                             float *y) {
  sum_parts_of_block(block(), parts, columns, x, y);
}
// Adds up x, [parts, columns], to y, [columns].
inline void sum_parts(Context &ctx, int64_t parts, int64_t columns,
                      const float *x, float *y) {
  launch(ctx, sum_parts_blocks(columns), kSumThreads, sum_parts_kernel, parts,
         columns, x, y);
}

struct SumPartsRows {
  DEVICE void operator()(Memory m, const SumPartsRow &row,
                         int64_t number) const {
    sum_parts_of_block(number, row.count, row.columns, m[row.parts],
                       m[row.sum]);
  }
};
// All sums of a table, in one launch.
template <size_t kRows>
void sum_parts(Context &ctx, Memory m, const SumPartsRow (&table)[kRows],
               int64_t blocks) {
  for_rows(ctx, m, table, blocks, SumPartsRows{}, kSumThreads);
}

} // namespace gpuopt
