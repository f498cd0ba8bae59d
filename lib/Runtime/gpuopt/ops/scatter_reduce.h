// y[r, :] is table[r, :] combined with updates[i, :] for all i whose index is
// r, in the order of i: by sum, product, maximum or minimum. Half precision is
// rounded once, after all updates of a row.
#pragma once

#include "gpuopt/kernels/block.h"
#include "gpuopt/ops/scatter.h"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace gpuopt {

#ifdef __CUDACC__

// A block for each row of the table. Buckets longer than a segment have been
// sorted before.
template <class Op, class T>
KERNEL void scatter_reduce_kernel(ScatterBuckets<Compute<T>> buckets,
                                  const T *updates, const T *table,
                                  int64_t cols, T *y) {
  const int64_t row = block() * cols;
  const int32_t from = buckets.begin[block()], to = buckets.begin[block() + 1];
  if (segments_of(to - from) == 0)
    sort_by_rank(buckets, from, to);
  __syncthreads();
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) {
    Compute<T> value = load_scalar(table + row + c);
    for (int32_t k = from; k < to; k++)
      value = Op::apply(
          value, load_scalar(updates + int64_t(buckets.sorted[k]) * cols + c));
    store_scalar(y + row + c, value);
  }
}

// The maximum of integers is the same in any order.
KERNEL void scatter_max_of_integers(const int64_t *index, int64_t count,
                                    const int64_t *updates, int64_t rows,
                                    int64_t cols, int64_t *y) {
  const int64_t i = block() * blockDim.x + threadIdx.x;
  if (i < count * cols)
    atomicMax(reinterpret_cast<long long *>(
                  y + detail::row_of(index[i / cols], rows) * cols + i % cols),
              static_cast<long long>(updates[i]));
}

template <class Op, class T>
void scatter_reduce(Context &ctx, const int64_t *index, int64_t count,
                    const T *updates, const T *table, int64_t rows,
                    int64_t cols, T *y) {
  if constexpr (std::is_same_v<Op, Maximum> && std::is_same_v<T, int64_t>) {
    copy(ctx, y, table, size_t(rows * cols) * sizeof(T));
    launch(ctx, ceil_div(count * cols, 256), 256, scatter_max_of_integers,
           index, count, updates, rows, cols, y);
    return;
  }
  using C = Compute<T>;
  const ScatterLayout layout(rows, count, 0, 0);
  const ScatterBuckets<C> buckets(ctx.workspace(size_t(layout.bytes)), layout);
  fill_buckets(ctx, index, count, rows, buckets);
  launch(ctx, layout.long_rows, kScatterThreads, scatter_sort_long<C>, index,
         count, rows, buckets);
  launch(ctx, rows, 128, scatter_reduce_kernel<Op, T>, buckets, updates, table,
         cols, y);
}

#else

// The rows that are combined, before they are rounded to half precision. Grows
// while the first step runs, and serves all scatters in turn.
template <class C>
struct WideScatterRows {
  std::vector<C> values;
};

// A block owns some columns and goes through all indices.
template <class Op, class T, class Y>
KERNEL void scatter_reduce_kernel(const int64_t *index, int64_t count,
                                  const T *updates, int64_t rows, int64_t cols,
                                  Y *y) {
  const int64_t begin = block() * kScatterColumns;
  const int64_t end =
      begin + kScatterColumns < cols ? begin + kScatterColumns : cols;
  for (int64_t i = 0; i < count; i++) {
    const T *from = updates + i * cols;
    Y *to = y + detail::row_of(index[i], rows) * cols;
    for (int64_t c = begin; c < end; c++)
      store_scalar(to + c,
                   Op::apply(load_scalar(to + c), load_scalar(from + c)));
  }
}

template <class Op, class T>
void scatter_reduce(Context &ctx, const int64_t *index, int64_t count,
                    const T *updates, const T *table, int64_t rows,
                    int64_t cols, T *y) {
  using C = Compute<T>;
  const int64_t blocks = ceil_div(cols, kScatterColumns), size = rows * cols;
  if constexpr (std::is_same_v<T, C>) {
    copy(ctx, y, table, size_t(size) * sizeof(T));
    launch(ctx, blocks, 1, scatter_reduce_kernel<Op, T, T>, index, count,
           updates, rows, cols, y);
  } else {
    auto &values = ctx.library<WideScatterRows<C>>().values;
    values.resize(std::max(values.size(), size_t(size)));
    C *wide = values.data();
#pragma omp parallel for schedule(static) num_threads(ctx.num_threads)
    for (int64_t i = 0; i < size; i++)
      wide[i] = load_scalar(table + i);
    launch(ctx, blocks, 1, scatter_reduce_kernel<Op, T, C>, index, count,
           updates, rows, cols, wide);
#pragma omp parallel for schedule(static) num_threads(ctx.num_threads)
    for (int64_t i = 0; i < size; i++)
      store_scalar(y + i, wide[i]);
  }
}

#endif

template <class T>
void scatter_sum_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *updates, const T *table, int64_t rows,
                      int64_t cols, T *y) {
  scatter_reduce<Sum>(ctx, index, count, updates, table, rows, cols, y);
}
template <class T>
void scatter_product_rows(Context &ctx, const int64_t *index, int64_t count,
                          const T *updates, const T *table, int64_t rows,
                          int64_t cols, T *y) {
  scatter_reduce<Product>(ctx, index, count, updates, table, rows, cols, y);
}
template <class T>
void scatter_max_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *updates, const T *table, int64_t rows,
                      int64_t cols, T *y) {
  scatter_reduce<Maximum>(ctx, index, count, updates, table, rows, cols, y);
}
template <class T>
void scatter_min_rows(Context &ctx, const int64_t *index, int64_t count,
                      const T *updates, const T *table, int64_t rows,
                      int64_t cols, T *y) {
  scatter_reduce<Minimum>(ctx, index, count, updates, table, rows, cols, y);
}

} // namespace gpuopt
