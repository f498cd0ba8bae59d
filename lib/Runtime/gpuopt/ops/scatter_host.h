// The gradient of an embedding on the host: the rows of dy that go to one row
// of the table are added one after the other.
#pragma once

#include "gpuopt/ops/scatter.h"

namespace gpuopt {

// A block owns some columns of the table and goes through all indices.
constexpr int64_t kScatterColumns = 4 * kLanes;

template <class T, class D>
KERNEL void scatter_add_rows_kernel(const int64_t *index, int64_t count,
                                    const T *dy, int64_t rows, int64_t cols,
                                    D *dtable) {
  const int64_t begin = block() * kScatterColumns;
  const int64_t end =
      begin + kScatterColumns < cols ? begin + kScatterColumns : cols;
  for (int64_t i = 0; i < count; i++) {
    const T *from = dy + i * cols;
    D *to = dtable + detail::row_of(index[i], rows) * cols;
    for (int64_t c = begin; c < end; c += kLanes)
      store(to + c,
            load(to + c, end - c) +
                convert<Compute<D>>(load(from + c, end - c)),
            end - c);
  }
}

// beta 0: dtable is written; 1: it is added to.
template <class T, class D>
void scatter_add_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *dy, int64_t rows, int64_t cols, D *dtable,
                      double beta) {
  if (beta == 0)
    set_zero(ctx, dtable, size_t(rows * cols) * sizeof(D));
  launch(ctx, ceil_div(cols, kScatterColumns), 1, scatter_add_rows_kernel<T, D>,
         index, count, dy, rows, cols, dtable);
}

} // namespace gpuopt
