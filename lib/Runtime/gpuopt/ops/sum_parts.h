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

#include "gpuopt/ops/column_sums.h"
#include "gpuopt/optimizers/spans.h"

namespace gpuopt {

// Adds up x, [parts, columns], to y, [columns].
inline void sum_parts(Context &ctx, int64_t parts, int64_t columns,
                      const float *x, float *y) {
  sum_columns(ctx, parts, columns, x, y);
}

struct SumPartsRows {
  DEVICE void operator()(Memory m, const SumPartsRow &row,
                         int64_t number) const {
    sum_columns_of_block(number, row.count, row.columns, m[row.parts],
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
