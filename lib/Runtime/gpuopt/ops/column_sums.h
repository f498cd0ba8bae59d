// The sums of a matrix's columns. A block adds up a part of the rows of
// kSumColumns columns.
#pragma once

#include "gpuopt/device/device.h"
#include "gpuopt/kernels/block.h"
#include "gpuopt/settings/column_sums_layout.h"
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

namespace detail {

// y is [parts, columns]: the sums of each part of the rows, in their order, by
// so many blocks.
template <class T, class C>
KERNEL void column_sums_kernel(int64_t rows, int64_t columns,
                               int64_t rows_of_part, int64_t blocks, const T *x,
                               C *y) {
  const int64_t part = block() / blocks, first = part * rows_of_part;
  const int64_t own = first + rows_of_part < rows ? rows_of_part : rows - first;
  sum_columns_of_block(block() % blocks, own, columns, x + first * columns,
                       y + part * columns);
}

template <class T, class C>
void column_sums_of_parts(Context &ctx, int64_t rows, int64_t columns,
                          int64_t parts, int64_t rows_of_part, const T *x,
                          C *y) {
  const int64_t blocks = sum_parts_blocks(columns);
  launch(ctx, parts * blocks, kSumThreads, column_sums_kernel<T, C>, rows,
         columns, rows_of_part, blocks, x, y);
}

} // namespace detail

// y[i] = x[0, i] + ... + x[rows - 1, i], by one block for kSumColumns columns.
template <class T, class C>
void sum_columns(Context &ctx, int64_t rows, int64_t columns, const T *x,
                 C *y) {
  detail::column_sums_of_parts(ctx, rows, columns, 1, rows, x, y);
}

#ifdef __CUDACC__
// The same where there are many rows, by blocks for parts of them. The
// context's workspace has the bytes that ColumnSumsLayout says.
template <class T, class C>
void sum_many_rows(Context &ctx, int64_t rows, int64_t columns, const T *x,
                   C *y) {
  const ColumnSumsLayout layout(rows, columns, sizeof(C));
  if (layout.parts <= 1)
    return sum_columns(ctx, rows, columns, x, y);
  C *partial = reinterpret_cast<C *>(ctx.workspace(size_t(layout.bytes)));
  detail::column_sums_of_parts(ctx, rows, columns, layout.parts,
                               layout.rows_of_part, x, partial);
  sum_columns(ctx, layout.parts, columns, static_cast<const C *>(partial), y);
}
#endif

} // namespace gpuopt
